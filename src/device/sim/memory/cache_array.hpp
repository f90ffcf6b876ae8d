// One cache array (or TLB level) at work: tags, sectors and replacement, no timing.
#pragma once

#include "device/sim/memory/replacement.hpp"
#include "device/sim/memory/set_index.hpp"

#include <deque>
#include <unordered_map>
#include <vector>

namespace sonde::sim {

class CacheArray {
 public:
  /// @param index of this geometry
  CacheArray(const CacheModel& model, const Geometry& geometry, SetIndex index);
  CacheArray(const CacheModel& model, const Geometry& geometry)
      : CacheArray(model, geometry, SetIndex(geometry)) {}

  /// One read of the aligned span of `span_bytes` around `address`. True if all of its sectors were
  /// there; they are afterwards, with the blocks of fetch_bytes that they belong to.
  /// @param span_bytes power of two
  bool access(std::uint64_t address, std::uint64_t span_bytes = 1) {
    return access(index_(address), address, span_bytes);
  }
  /// The same, if the set of `address` is known.
  bool access(std::uint32_t set, std::uint64_t address, std::uint64_t span_bytes);

  /// One store to the word at `address`, by the write policy of the cache.
  void store(std::uint64_t address);

  /// The line of `address` leaves, if it is there.
  void drop(std::uint64_t address);

  /// True if the sector of `address` is there; changes nothing.
  bool contains(std::uint64_t address);

  /// The host fetches what an access to this set needs, but for tags that where_ finds: they are
  /// many, and fetching them all costs the GTX 980's L1 7 % of its speed.
  void fetch_set_ahead(std::uint32_t set) const {
    const std::uint64_t* block = words() + std::size_t{set} * block_words_;
    const std::uint32_t words_needed = mapped_ ? first_tag_word_ : block_words_;
    for (std::uint32_t word = 0; word < words_needed; word += host_line_words) {
      fetch_ahead(block + word);
    }
  }

  /// So large that the host's innermost cache does not hold it.
  bool is_large() const { return !mapped_ && slots_ >= large_slots; }

  std::uint64_t fetch_bytes() const { return fetch_bytes_; }
  std::uint32_t set_of(std::uint64_t address) const { return index_(address); }
  std::uint32_t ways_of(std::uint32_t set) const {
    return equal_ways_ != 0 ? equal_ways_ : unequal_ways_[set];
  }

  /// Empty; `seed` for random replacement.
  void clear(std::uint64_t seed);

 private:
  static constexpr std::size_t large_slots = 2048;  // half of a first-level cache of 32 KiB

  void take_stored_word(std::uint64_t address);
  void fill_sectors(std::uint64_t address, std::uint64_t sectors);
  bool access_line(std::uint32_t number, std::uint64_t address, std::uint64_t span_bytes);
  bool access_lines(std::uint64_t address, std::uint64_t span_bytes);
  SetView wake(std::uint32_t number);
  void empty(const SetView& set);
  std::uint32_t find_way(const SetView& set, std::uint64_t line) const;
  std::uint32_t choose_way(const SetView& set, std::uint64_t line);
  void limit_data(std::uint64_t line, std::size_t slot);
  std::uint64_t line_of(std::uint64_t address) const { return address >> line_shift_; }
  std::uint64_t place_in_line(std::uint64_t address) const { return address & (line_bytes_ - 1); }
  std::uint64_t* words() { return lines_.data()->words.data(); }
  const std::uint64_t* words() const { return lines_.data()->words.data(); }
  /// Sectors of a line, a bit for each: that of the word at `address`, ...
  std::uint64_t sector_of(std::uint64_t address) const {
    return std::uint64_t{1} << (place_in_line(address) >> sector_shift_);
  }
  /// ... those of the block that is fetched with it, ...
  std::uint64_t fetched_with(std::uint64_t address) const {
    return block_sectors_ << ((place_in_line(address) & block_place_) >> sector_shift_);
  }
  /// ... and those of a span within the line.
  std::uint64_t sectors_of(std::uint64_t address, std::uint64_t span_bytes) const {
    if (span_bytes <= sector_bytes_) return sector_of(address);
    const std::uint64_t count = span_bytes >> sector_shift_;
    return ((std::uint64_t{1} << count) - 1) * sector_of(address & ~(span_bytes - 1));
  }

  SetIndex index_;
  std::uint32_t most_ways_;
  std::uint32_t equal_ways_ = 0;             // of each set; 0 if they differ, ...
  std::vector<std::uint32_t> unequal_ways_;  // ... then by set
  std::uint32_t slots_;                      // of all sets, most_ways_ for each
  std::uint64_t line_bytes_;
  int line_shift_;
  std::uint64_t sector_bytes_;
  int sector_shift_;
  std::uint64_t fetch_bytes_;
  std::uint64_t block_sectors_;  // a bit for each sector of a fetched block
  std::uint64_t block_place_;    // the address bits that say which block of the line it is
  WritePolicy write_policy_;
  bool mapped_;                   // sets of too many ways for marks: where_ knows every line
  std::uint32_t first_tag_word_;  // of each set, behind its marks
  std::uint32_t block_words_;     // of each set
  std::vector<HostLine> lines_;   // the words of all sets
  ReplacementState replacement_;
  std::uint32_t generation_ = 1;
  std::uint64_t holes_ = 0;  // slots that a line has left by drop()
  /// A line on its way to be the oldest, where there is less capacity for data than tags.
  struct Fill {
    std::uint64_t line = 0;
    std::size_t slot = 0;
    std::uint64_t number = 0;
  };
  std::uint64_t data_lines_;  // 0: as many as there are tags
  std::uint64_t present_lines_ = 0;
  std::uint64_t fills_ = 0;
  std::vector<std::uint64_t> filled_;  // number of the fill, by slot
  std::deque<Fill> fill_order_;        // lines that have left since are still in it
  std::unordered_map<std::uint64_t, std::uint32_t> where_;  // the way of each line, if mapped_
  /// By number of the sector, of words that were stored to sectors that are not there: a bit each.
  std::unordered_map<std::uint64_t, std::uint64_t> stored_words_;
};

}  // namespace sonde::sim
