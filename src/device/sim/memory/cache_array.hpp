// One cache array (or TLB level) at work: tags, sectors and replacement, no timing.
#pragma once

#include "device/sim/memory/replacement.hpp"
#include "device/sim/memory/set_index.hpp"

#include <algorithm>
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
  bool access(std::uint64_t address, std::uint64_t span_bytes = 1);

  /// One store to the word at `address`, by the write policy of the cache.
  void store(std::uint64_t address);

  /// The line of `address` leaves, if it is there.
  void drop(std::uint64_t address);

  /// True if the sector of `address` is there; changes nothing.
  bool contains(std::uint64_t address);

  /// The host fetches what an access to this address needs, but for the tags of many ways: large
  /// arrays exceed its caches.
  void fetch_ahead(std::uint64_t address) const {
    constexpr std::uint32_t line_words = 8;
    constexpr std::uint32_t most_words = 8 * line_words;
    const std::uint64_t* words = &words_[std::size_t{index_(address)} * set_words_];
    for (std::uint32_t word = 0; word < std::min(set_words_, most_words); word += line_words) {
      __builtin_prefetch(words + word, 1);
    }
  }

  std::uint64_t fetch_bytes() const { return fetch_bytes_; }

  /// Empty; `seed` for random replacement.
  void clear(std::uint64_t seed);

 private:
  void take_stored_word(std::uint64_t address);
  bool access_line(std::uint64_t address, std::uint64_t span_bytes);
  bool access_lines(std::uint64_t address, std::uint64_t span_bytes);
  SetView wake(std::uint32_t number);
  std::uint32_t find_way(const SetView& set, std::uint64_t line) const;
  std::uint32_t choose_way(const SetView& set);
  void fill(const SetView& set, std::uint64_t line, std::uint64_t sectors);
  void limit_data(std::uint64_t line, std::size_t slot);
  std::uint64_t line_of(std::uint64_t address) const { return address >> line_shift_; }
  std::uint64_t place_in_line(std::uint64_t address) const { return address & (line_bytes_ - 1); }
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
  std::uint32_t slots_;  // of all sets, most_ways_ for each
  std::uint64_t line_bytes_;
  int line_shift_;
  std::uint64_t sector_bytes_;
  int sector_shift_;
  std::uint64_t fetch_bytes_;
  std::uint64_t block_sectors_;  // a bit for each sector of a fetched block
  std::uint64_t block_place_;    // the address bits that say which block of the line it is
  WritePolicy write_policy_;
  std::vector<std::uint32_t> ways_per_set_;  // empty: equal ones
  /// Of each set, close together: its generation, how many ways are filled, their tags, and when
  /// each was used.
  std::uint32_t set_words_;
  std::vector<std::uint64_t> words_;
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
  /// By number of the sector, of words that were stored to sectors that are not there: a bit each.
  std::unordered_map<std::uint64_t, std::uint64_t> stored_words_;
};

}  // namespace sonde::sim
