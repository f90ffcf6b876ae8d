// Lines come, are found and leave; what MemorySystem adds to a hit or a miss is its time.
#include "device/sim/memory/cache_array.hpp"

#include "device/sim/model/limits.hpp"

#include <algorithm>
#include <bit>
#include <utility>

namespace sonde::sim {
namespace {

constexpr std::uint32_t no_way = ~0u;
constexpr int sector_bits = limits::line_sectors;  // of a tag, below its line
constexpr std::uint64_t no_line = ~std::uint64_t{0} >> sector_bits;
constexpr std::uint32_t head_words = 2;

std::uint64_t make_tag(std::uint64_t line, std::uint64_t sectors) {
  return line << sector_bits | sectors;
}
bool has_all(std::uint64_t tag, std::uint64_t sectors) { return (~tag & sectors) == 0; }

}  // namespace

CacheArray::CacheArray(const CacheModel& model, const Geometry& geometry, SetIndex index)
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

void CacheArray::clear(std::uint64_t seed) {
  ++generation_;
  holes_ = 0;
  present_lines_ = 0;
  fill_order_.clear();
  replacement_.clear(seed);
  stored_words_.clear();
}

/// The set of that number, emptied if it was last used before the cache was cleared. In line, as
/// the next: calls would be a quarter of all instructions of an access.
[[gnu::always_inline]] inline SetView CacheArray::wake(std::uint32_t number) {
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

[[gnu::always_inline]] inline std::uint32_t CacheArray::find_way(const SetView& set,
                                                                 std::uint64_t line) const {
  const std::uint64_t filled = *set.filled;
  for (std::uint32_t way = 0; way < filled; ++way) {
    if (set.tags[way] >> sector_bits == line) return way;
  }
  return no_way;
}

/// A way for a new line. Holes are filled first, then ways that were never used, then the victim
/// leaves.
std::uint32_t CacheArray::choose_way(const SetView& set) {
  const std::uint32_t hole = holes_ > 0 ? find_way(set, no_line) : no_way;
  if (hole != no_way) {
    --holes_;
    return hole;
  }
  if (*set.filled < set.ways) return static_cast<std::uint32_t>((*set.filled)++);
  if (data_lines_ > 0) --present_lines_;
  return replacement_.victim(set);
}

/// A line was filled: if there is no capacity for its data, the one filled longest ago leaves.
[[gnu::noinline]] void CacheArray::limit_data(std::uint64_t line, std::size_t slot) {
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

[[gnu::always_inline]] inline bool CacheArray::access_line(std::uint64_t address,
                                                           std::uint64_t span_bytes) {
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

/// A line takes a way.
void CacheArray::fill(const SetView& set, std::uint64_t line, std::uint64_t sectors) {
  const std::uint32_t way = choose_way(set);
  set.tags[way] = make_tag(line, sectors);
  replacement_.on_fill(set, way);
  if (data_lines_ > 0) limit_data(line, set.first_slot + way);
}

bool CacheArray::access(std::uint64_t address, std::uint64_t span_bytes) {
  return span_bytes > line_bytes_ ? access_lines(address, span_bytes)
                                  : access_line(address, span_bytes);
}

/// A span of several lines: that of `address` first.
bool CacheArray::access_lines(std::uint64_t address, std::uint64_t span_bytes) {
  bool hit = access(address, line_bytes_);
  const std::uint64_t first = address & ~(span_bytes - 1);
  for (std::uint64_t at = first; at < first + span_bytes; at += line_bytes_) {
    if ((at ^ address) >= line_bytes_) hit = access(at, line_bytes_) && hit;
  }
  return hit;
}

void CacheArray::store(std::uint64_t address) {
  if (contains(address)) {
    if (write_policy_.hit == StoreHit::update) access(address);
    if (write_policy_.hit == StoreHit::invalidate) drop(address);
  } else if (write_policy_.miss == StoreMiss::allocate) {
    access(address);
  } else if (write_policy_.miss == StoreMiss::allocate_stored) {
    take_stored_word(address);
  }
}

/// The sector of the word is filled once all of its words are there.
void CacheArray::take_stored_word(std::uint64_t address) {
  constexpr std::uint64_t most_words = 64;  // in a mask
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

void CacheArray::drop(std::uint64_t address) {
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

bool CacheArray::contains(std::uint64_t address) {
  const SetView set = wake(index_(address));
  const std::uint32_t way = find_way(set, line_of(address));
  return way != no_way && has_all(set.tags[way], sector_of(address));
}

}  // namespace sonde::sim
