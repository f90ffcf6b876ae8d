// One cache array or TLB level: tags, sectors and replacement. It says hit or miss; MemorySystem
// adds the latency.
#pragma once

#include "device/sim/memory/replacement.hpp"
#include "device/sim/memory/set_index.hpp"
#include "device/sim/model/limits.hpp"

#include <algorithm>
#include <bit>
#include <deque>
#include <unordered_map>
#include <utility>
#include <vector>

namespace sonde::sim {

class CacheArray {
 public:
  /// @param index the index function of `geometry`
  CacheArray(const CacheModel& model, const Geometry& geometry, SetIndex index)
      : index_(std::move(index)),
        most_ways_(geometry.most_ways()),
        slots_(most_ways_ * static_cast<std::uint32_t>(geometry.ways_per_set.size())),
        line_bytes_(model.line_bytes),
        line_shift_(std::countr_zero(model.line_bytes)),
        sector_bytes_(model.sector_bytes),
        sector_shift_(std::countr_zero(model.sector_bytes)),
        fetch_bytes_(model.fetch_bytes),
        block_sectors_((std::uint64_t{1} << (std::min(fetch_bytes_, line_bytes_) / sector_bytes_)) -
                       1),
        block_place_(~(fetch_bytes_ - 1)),
        write_policy_(model.write_policy),
        set_words_(head_words + most_ways_ * (has_order(geometry.replacement.policy) ? 2 : 1)),
        words_(geometry.ways_per_set.size() * set_words_),
        replacement_(geometry, slots_),
        data_lines_(geometry.data_lines),
        filled_(data_lines_ > 0 ? slots_ : 0) {
    if (geometry.lines() != slots_) ways_per_set_ = geometry.ways_per_set;
  }
  CacheArray(const CacheModel& model, const Geometry& geometry)
      : CacheArray(model, geometry, SetIndex(geometry)) {}

  /// Reads the aligned span of `span_bytes` (a power of two) around `address`. True if all of its
  /// sectors were present. Afterwards they are, with the block of fetch_bytes around `address`.
  bool access(std::uint64_t address, std::uint64_t span_bytes = 1) {
    return span_bytes > line_bytes_ ? access_lines(address, span_bytes)
                                    : access_line(address, span_bytes);
  }

  /// Stores to the word at `address`, by the write policy of the cache.
  void store(std::uint64_t address) {
    if (contains(address)) {
      if (write_policy_.hit == StoreHit::update) access(address);
      if (write_policy_.hit == StoreHit::invalidate) drop(address);
    } else if (write_policy_.miss == StoreMiss::allocate) {
      access(address);
    } else if (write_policy_.miss == StoreMiss::allocate_stored) {
      take_stored_word(address);
    }
  }

  /// Removes the line of `address` if it is present.
  void drop(std::uint64_t address) {
    const SetView set = wake(index_(address));
    const std::uint64_t line = line_of(address);
    const std::uint32_t way = find_way(set, line);
    if (way == no_way) return;
    set.tags[way] = make_tag(no_line, 0);
    ++holes_;
    if (data_lines_ > 0) {
      filled_[set.first_slot + way] = 0;
      --present_lines_;
    }
  }

  /// True if the sector of `address` is present; changes nothing.
  bool contains(std::uint64_t address) {
    const SetView set = wake(index_(address));
    const std::uint32_t way = find_way(set, line_of(address));
    return way != no_way && has_all(set.tags[way], sector_of(address));
  }

  /// Prefetches into the caches of the host what an access to this address needs, but only the
  /// first tags of a set with many ways. Large arrays do not fit into these caches.
  void fetch_ahead(std::uint64_t address) const {
    constexpr std::uint32_t line_words = 8;
    constexpr std::uint32_t most_words = 8 * line_words;
    const std::uint64_t* words = &words_[std::size_t{index_(address)} * set_words_];
    for (std::uint32_t word = 0; word < std::min(set_words_, most_words); word += line_words) {
      __builtin_prefetch(words + word, 1);
    }
  }

  std::uint64_t fetch_bytes() const { return fetch_bytes_; }

  /// Empties the array; `seed` is for random replacement.
  void clear(std::uint64_t seed) {
    ++generation_;
    holes_ = 0;
    present_lines_ = 0;
    fill_order_.clear();
    replacement_.clear(seed);
    stored_words_.clear();
  }

 private:
  static constexpr std::uint32_t no_way = ~0u;
  static constexpr int sector_bits = limits::line_sectors;  // low bits of a tag, below its line
  static constexpr std::uint64_t no_line = ~std::uint64_t{0} >> sector_bits;
  static constexpr std::uint32_t head_words = 2;

  static std::uint64_t make_tag(std::uint64_t line, std::uint64_t sectors) {
    return line << sector_bits | sectors;
  }
  static bool has_all(std::uint64_t tag, std::uint64_t sectors) { return (~tag & sectors) == 0; }

  /// Under allocate_stored a sector becomes valid once all of its words were stored.
  void take_stored_word(std::uint64_t address) {
    constexpr std::uint64_t most_words = 64;  // bits of a mask
    const std::uint64_t word_bytes = std::max<std::uint64_t>(8, sector_bytes_ / most_words);
    const std::uint64_t count = std::max<std::uint64_t>(1, sector_bytes_ / word_bytes);
    std::uint64_t& words = stored_words_[address / sector_bytes_];
    words |= std::uint64_t{1} << (address % sector_bytes_ / word_bytes);
    if (words != ~std::uint64_t{0} >> (most_words - count)) return;
    stored_words_.erase(address / sector_bytes_);
    const SetView set = wake(index_(address));
    const std::uint32_t way = find_way(set, line_of(address));
    if (way == no_way) return fill(set, line_of(address), sector_of(address));
    set.tags[way] |= sector_of(address);
  }
  [[gnu::always_inline]] bool access_line(std::uint64_t address, std::uint64_t span_bytes) {
    const SetView set = wake(index_(address));
    const std::uint64_t line = line_of(address);
    const std::uint64_t wanted = sectors_of(address, span_bytes);
    const std::uint32_t way = find_way(set, line);
    if (way != no_way) {
      replacement_.on_hit(set, way);
      const bool hit = has_all(set.tags[way], wanted);
      if (!hit) set.tags[way] |= wanted | fetched_with(address);
      return hit;
    }
    fill(set, line, wanted | fetched_with(address));
    return false;
  }
  /// Reads a span of several lines, first the line of `address`.
  bool access_lines(std::uint64_t address, std::uint64_t span_bytes) {
    bool hit = access(address, line_bytes_);
    const std::uint64_t first = address & ~(span_bytes - 1);
    for (std::uint64_t at = first; at < first + span_bytes; at += line_bytes_) {
      if ((at ^ address) >= line_bytes_) hit = access(at, line_bytes_) && hit;
    }
    return hit;
  }
  /// The set of that number, emptied if it was last used before clear(). Inlined like find_way():
  /// calls would be a quarter of all instructions of an access.
  [[gnu::always_inline]] SetView wake(std::uint32_t number) {
    std::uint64_t* words = &words_[std::size_t{number} * set_words_];
    const SetView set{.set = number,
                      .first_slot = number * most_ways_,
                      .ways = ways_per_set_.empty() ? most_ways_ : ways_per_set_[number],
                      .filled = words + 1,
                      .tags = words + head_words,
                      .used = words + head_words + most_ways_};
    if (words[0] != generation_) {
      words[0] = generation_;
      words[1] = 0;
      replacement_.clear_set(set);
    }
    return set;
  }
  [[gnu::always_inline]] std::uint32_t find_way(const SetView& set, std::uint64_t line) const {
    const std::uint64_t filled = *set.filled;
    for (std::uint32_t way = 0; way < filled; ++way) {
      if (set.tags[way] >> sector_bits == line) return way;
    }
    return no_way;
  }
  /// Chooses the way for a new line: first a hole that drop() left, then a way that was never used,
  /// then the victim of the replacement policy.
  std::uint32_t choose_way(const SetView& set) {
    const std::uint32_t hole = holes_ > 0 ? find_way(set, no_line) : no_way;
    if (hole != no_way) {
      --holes_;
      return hole;
    }
    if (*set.filled < set.ways) return static_cast<std::uint32_t>((*set.filled)++);
    if (data_lines_ > 0) --present_lines_;
    return replacement_.victim(set);
  }
  void fill(const SetView& set, std::uint64_t line, std::uint64_t sectors) {
    const std::uint32_t way = choose_way(set);
    set.tags[way] = make_tag(line, sectors);
    replacement_.on_fill(set, way);
    if (data_lines_ > 0) limit_data(line, set.first_slot + way);
  }
  /// After a fill: if there are more lines than room for data, drops the line filled longest ago.
  [[gnu::noinline]] void limit_data(std::uint64_t line, std::size_t slot) {
    filled_[slot] = ++fills_;
    fill_order_.push_back({line, slot, fills_});
    ++present_lines_;
    while (true) {
      const Fill oldest = fill_order_.front();
      const bool is_there = filled_[oldest.slot] == oldest.number;
      if (is_there && present_lines_ <= data_lines_) return;
      fill_order_.pop_front();
      if (is_there) drop(oldest.line * line_bytes_);
    }
  }
  std::uint64_t line_of(std::uint64_t address) const { return address >> line_shift_; }
  std::uint64_t place_in_line(std::uint64_t address) const { return address & (line_bytes_ - 1); }
  /// The sector of the word at `address`, as a mask with a bit for each sector of the line.
  std::uint64_t sector_of(std::uint64_t address) const {
    return std::uint64_t{1} << (place_in_line(address) >> sector_shift_);
  }
  /// The sectors of the block that is fetched with it.
  std::uint64_t fetched_with(std::uint64_t address) const {
    return block_sectors_ << ((place_in_line(address) & block_place_) >> sector_shift_);
  }
  /// The sectors of an aligned span within the line.
  std::uint64_t sectors_of(std::uint64_t address, std::uint64_t span_bytes) const {
    if (span_bytes <= sector_bytes_) return sector_of(address);
    const std::uint64_t count = span_bytes >> sector_shift_;
    return ((std::uint64_t{1} << count) - 1) * sector_of(address & ~(span_bytes - 1));
  }

  SetIndex index_;
  std::uint32_t most_ways_;
  std::uint32_t slots_;  // most_ways_ for each set
  std::uint64_t line_bytes_;
  int line_shift_;
  std::uint64_t sector_bytes_;
  int sector_shift_;
  std::uint64_t fetch_bytes_;
  std::uint64_t block_sectors_;  // a bit for each sector of a fetched block
  std::uint64_t block_place_;    // mask of the address bits that select a block in its line
  WritePolicy write_policy_;
  std::vector<std::uint32_t> ways_per_set_;  // empty if all sets are equal
  /// The words of one set lie together: its generation, its number of filled ways, their tags, and
  /// when each was used.
  std::uint32_t set_words_;
  std::vector<std::uint64_t> words_;
  ReplacementState replacement_;
  std::uint32_t generation_ = 1;
  std::uint64_t holes_ = 0;  // slots emptied by drop()
  /// One fill; recorded only if there is less room for data than there are tags.
  struct Fill {
    std::uint64_t line = 0;
    std::size_t slot = 0;
    std::uint64_t number = 0;
  };
  std::uint64_t data_lines_;  // 0: as many as there are tags
  std::uint64_t present_lines_ = 0;
  std::uint64_t fills_ = 0;
  std::vector<std::uint64_t> filled_;  // number of the last fill of each slot; 0: empty
  std::deque<Fill> fill_order_;        // still holds lines that have left since
  /// By sector number, for sectors that are not valid yet: a bit for each word stored to them.
  std::unordered_map<std::uint64_t, std::uint64_t> stored_words_;
};

}  // namespace sonde::sim
