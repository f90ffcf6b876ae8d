// One cache array (or TLB level) at work: tags, sectors and replacement, no timing.
#pragma once

#include "device/sim/line_map.hpp"
#include "device/sim/replacement.hpp"
#include "device/sim/set_index.hpp"
#include "device/sim/set_layout.hpp"

#include <deque>
#include <vector>

namespace sonde::sim {

class CacheArray {
 public:
  /// The most that a line may have.
  static constexpr int most_sectors = 16;
  /// Sets of more ways than this are searched through a map.
  static constexpr std::uint32_t narrow_ways = marks::most_ways;

  CacheArray(const CacheModel& model, const Geometry& geometry);

  /// One read of the word at `address`. True if its sector was there; if not, the block of
  /// fetch_bytes around it is there afterwards.
  bool access(std::uint64_t address) { return access(index_(address), address); }
  /// The same, if the set is known.
  bool access(std::uint32_t set, std::uint64_t address);

  /// One store to the word at `address`, by the write policy of the cache.
  void store(std::uint64_t address);

  /// The line of `address` leaves, if it is there.
  void drop(std::uint64_t address);

  /// True if the sector of `address` is there; changes nothing.
  bool contains(std::uint64_t address);

  /// Tells that this set will be accessed soon: the host fetches what that needs. Nothing changes.
  void expect(std::uint32_t set) const {
    constexpr std::uint32_t step = host_line_bytes / sizeof(Tag);
    fetch_ahead(&records_[set * record_words_]);
    const SetShape shape = layout_[set];
    for (std::uint32_t way = 0; way < shape.ways; way += step) {
      fetch_ahead(&tags_[shape.first_slot + way]);
    }
    replacement_.expect(set, shape.first_slot);
    if (data_lines_ > 0) fetch_ahead(&filled_[shape.first_slot]);
  }

  /// So large that the host's nearest cache does not hold it.
  bool is_large() const { return !mapped_ && tags_.size() >= large_slots; }

  std::uint64_t fetch_bytes() const { return fetch_bytes_; }
  std::uint32_t set_of(std::uint64_t address) const { return index_(address); }
  std::uint32_t ways_of(std::uint32_t set) const { return layout_[set].ways; }

  /// Empty; `seed` for policies that draw.
  void clear(std::uint64_t seed);

 private:
  static constexpr std::size_t large_slots = 2048;  // half of a first-level cache of 32 KiB

  /// A line and which of its sectors are there.
  struct Tag {
    static constexpr std::uint64_t no_line = (std::uint64_t{1} << (64 - most_sectors)) - 1;
    std::uint64_t word = no_line << most_sectors;

    Tag() = default;
    Tag(std::uint64_t line, std::uint64_t sectors) : word(line << most_sectors | sectors) {}
    std::uint64_t line() const { return word >> most_sectors; }
    bool has(std::uint64_t sectors) const { return (word & sectors) != 0; }
  };

  SetView wake(std::uint32_t number);
  std::uint32_t find_way(const SetView& set, std::uint64_t line) const;
  std::uint32_t place(const SetView& set, std::uint64_t line);
  void put(const SetView& set, std::uint32_t way, Tag tag);
  void keep_to_room(std::uint64_t line, std::size_t slot);
  std::uint64_t sector_bit(std::uint64_t address) const {
    return std::uint64_t{1} << ((address & (line_bytes_ - 1)) >> sector_shift_);
  }
  std::uint64_t fetched_sectors(std::uint64_t address) const {
    return block_sectors_ * sector_bit(address & ~(fetch_bytes_ - 1));
  }

  SetIndex index_;
  SetLayout layout_;
  std::uint64_t line_bytes_;
  int line_shift_;
  int sector_shift_;
  std::uint64_t fetch_bytes_;
  std::uint64_t block_sectors_;  // one bit for each sector of a fetched block
  WritePolicy write_policy_;
  bool mapped_;                            // wide sets: where_ knows every line
  std::size_t record_words_;               // of each set
  HostLineVector<std::uint64_t> records_;  // of all sets
  HostLineVector<Tag> tags_;               // by slot
  ReplacementState replacement_;
  std::uint32_t generation_ = 1;
  std::uint64_t holes_ = 0;  // slots that a line has left by drop()
  /// Room for data, where there is less of it than tags.
  struct Fill {
    std::uint64_t line = 0;
    std::size_t slot = 0;
    std::uint64_t number = 0;
  };
  std::uint64_t data_lines_;  // 0: as many as there are tags
  std::uint64_t present_lines_ = 0;
  std::uint64_t fills_ = 0;
  std::vector<std::uint64_t> filled_;       // number of the fill, by slot
  std::deque<Fill> fill_order_;             // lines that have left since are still in it
  std::uint64_t last_line_ = Tag::no_line;  // the last one that was there, and its way
  std::uint32_t last_way_ = 0;
  LineMap where_;
};

}  // namespace sonde::sim
