// One cache array (or TLB level) at work: tags, sectors and replacement, no timing.
#pragma once

#include "device/sim/replacement.hpp"
#include "device/sim/set_index.hpp"

namespace sonde::sim {

/// Where a line sits; open addressing, for sets too wide to be searched way by way.
class LineMap {
 public:
  static constexpr std::uint32_t absent = ~0u;
  explicit LineMap(std::size_t lines);
  std::uint32_t find(std::uint64_t line) const;
  void insert(std::uint64_t line, std::uint32_t slot);
  void erase(std::uint64_t line);
  void clear();

 private:
  struct Cell {
    std::uint64_t key = 0;  // line + 1; 0: free
    std::uint32_t slot = 0;
  };
  std::size_t home(std::uint64_t key) const { return mix_bits(key) & mask_; }
  std::size_t mask_;
  std::vector<Cell> cells_;
};

class CacheArray {
 public:
  CacheArray(const CacheModel& model, const Geometry& geometry);

  /// One read of the word at `address`. True if its sector was there; if not, the block of
  /// fetch_bytes around it is there afterwards.
  bool access(std::uint64_t address);

  /// One store to the word at `address`, by the write policy of the cache.
  void store(std::uint64_t address);

  /// The line of `address` leaves, if it is there.
  void drop(std::uint64_t address);

  /// True if the sector of `address` is there; changes nothing.
  bool contains(std::uint64_t address) const;

  std::uint64_t fetch_bytes() const { return fetch_bytes_; }
  std::uint32_t set_of(std::uint64_t address) const { return index_(address); }
  std::uint32_t ways_of(std::uint32_t set) const { return sets_[set].ways; }

  /// Empty; `seed` for policies that draw.
  void clear(std::uint64_t seed);

 private:
  struct SetState {
    std::uint32_t first_slot = 0;
    std::uint32_t ways = 0;
    std::uint32_t used = 0;        // ways that have been filled
    std::uint32_t generation = 0;  // of the contents

    SetView view(std::uint32_t number) const { return {number, first_slot, ways}; }
  };

  SetState& wake(std::uint32_t number);
  std::uint32_t find_way(const SetState& set, std::uint64_t line) const;
  std::uint32_t find_hole(const SetState& set) const;
  std::uint32_t place(SetState& set, const SetView& view, std::uint64_t line);
  std::uint32_t sector_bit(std::uint64_t address) const {
    return 1u << ((address & (line_bytes_ - 1)) >> sector_shift_);
  }
  std::uint32_t fetched_sectors(std::uint64_t address) const;

  static constexpr std::uint64_t no_line = ~std::uint64_t{0};

  SetIndex index_;
  std::uint64_t line_bytes_;
  int line_shift_;
  int sector_shift_;
  std::uint64_t fetch_bytes_;
  WritePolicy write_policy_;
  std::vector<SetState> sets_;
  std::uint32_t generation_ = 1;
  std::vector<std::uint64_t> lines_;    // by slot
  std::vector<std::uint32_t> sectors_;  // by slot
  ReplacementState replacement_;
  std::uint64_t holes_ = 0;            // slots that a line has left by drop()
  std::uint64_t last_line_ = no_line;  // the last one that was there, and its way
  std::uint32_t last_way_ = 0;
  bool mapped_;  // wide sets: where_ knows every line
  LineMap where_;
};

}  // namespace sonde::sim
