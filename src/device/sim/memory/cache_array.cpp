// Lines come, are found and leave; what MemorySystem adds to a hit or a miss is its time.
#include "device/sim/memory/cache_array.hpp"

#include <algorithm>
#include <bit>
#include <utility>

namespace sonde::sim {
namespace {

constexpr std::uint32_t no_way = ~0u;

/// A set lies in one line of the host, or in few whole ones.
std::uint32_t words_of_block(std::uint32_t words) {
  return words <= host_line_words ? std::bit_ceil(words)
                                  : (words + host_line_words - 1) & ~(host_line_words - 1);
}

/// A line takes the way of another one.
[[gnu::noinline]] void move_entry(std::unordered_map<std::uint64_t, std::uint32_t>& way_of,
                                  std::uint64_t old_line, std::uint64_t line) {
  auto entry = way_of.extract(old_line);
  entry.key() = line;
  way_of.insert(std::move(entry));
}

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
      mapped_(most_ways_ > marks::most_ways),
      first_tag_word_(SetState::marks_word + (mapped_ ? 0 : marks::words_for(most_ways_))),
      block_words_(words_of_block(first_tag_word_ + most_ways_)),
      lines_(geometry.ways_per_set.size() * block_words_ / host_line_words + 1),
      replacement_(geometry, slots_),
      data_lines_(geometry.data_lines),
      filled_(data_lines_ > 0 ? slots_ : 0) {
  if (geometry.lines() == slots_) {
    equal_ways_ = most_ways_;
  } else {
    unequal_ways_ = geometry.ways_per_set;
  }
}

void CacheArray::clear(std::uint64_t seed) {
  ++generation_;
  holes_ = 0;
  present_lines_ = 0;
  fill_order_.clear();
  replacement_.clear(seed);
  where_.clear();
  stored_words_.clear();
}

[[gnu::noinline]] void CacheArray::empty(const SetView& set) {
  set.state.clear(generation_, first_tag_word_ - SetState::marks_word);
  replacement_.clear_set(set);
}

/// The set of that number, emptied if it was last used before the cache was cleared.
SONDE_HOT SetView CacheArray::wake(std::uint32_t number) {
  std::uint64_t* block = words() + std::size_t{number} * block_words_;
  const SetView set{.set = number,
                    .first_slot = number * most_ways_,
                    .ways = ways_of(number),
                    .state = SetState(block, block + first_tag_word_)};
  if (set.state.generation() != generation_) [[unlikely]]
    empty(set);
  return set;
}

SONDE_HOT std::uint32_t CacheArray::find_way(const SetView& set, std::uint64_t line) const {
  if (mapped_) {
    const auto found = where_.find(line);
    return found == where_.end() ? no_way : found->second;
  }
  std::uint64_t found = marks::find(set.state.marks(), set.ways, marks::mark_of(line));
  for (; found != 0; found &= found - 1) {
    const std::uint32_t way = marks::next_way(found);
    if (set.state.tag(way).line() == line) return way;
  }
  return no_way;
}

/// A way that a line has left.
[[gnu::noinline]] std::uint32_t find_hole(const SetView& set) {
  for (std::uint32_t way = 0; way < set.state.used(); ++way) {
    if (set.state.tag(way).is_empty()) return way;
  }
  return no_way;
}

/// A way for a new line. Holes are filled first, then ways that were never used, then the victim
/// leaves.
SONDE_HOT std::uint32_t CacheArray::choose_way(const SetView& set, std::uint64_t line) {
  std::uint32_t way = holes_ > 0 ? find_hole(set) : no_way;
  if (way != no_way) {
    --holes_;
  } else if (set.state.used() < set.ways) {
    way = set.state.use_next();
  } else {
    way = replacement_.victim(set);
    if (data_lines_ > 0) --present_lines_;
    if (mapped_) {
      move_entry(where_, set.state.tag(way).line(), line);
      return way;
    }
  }
  if (mapped_) {
    where_[line] = way;
  } else {
    set.state.set_mark(way, marks::mark_of(line));
  }
  return way;
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

SONDE_HOT bool CacheArray::access_line(std::uint32_t number, std::uint64_t address,
                                       std::uint64_t span_bytes) {
  const SetView set = wake(number);
  const std::uint64_t line = line_of(address);
  const std::uint64_t wanted = sectors_of(address, span_bytes);
  std::uint32_t way = find_way(set, line);
  if (way != no_way) {
    replacement_.on_hit(set, way);
    const bool hit = set.state.tag(way).has_all(wanted);
    if (!hit) set.state.add_sectors(way, wanted | fetched_with(address));
    return hit;
  }
  way = choose_way(set, line);
  set.state.set_tag(way, Tag(line, wanted | fetched_with(address)));
  replacement_.on_fill(set, way);
  if (data_lines_ > 0) limit_data(line, set.first_slot + way);
  return false;
}

bool CacheArray::access(std::uint32_t set, std::uint64_t address, std::uint64_t span_bytes) {
  if (span_bytes > line_bytes_) return access_lines(address, span_bytes);
  return access_line(set, address, span_bytes);
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

void CacheArray::fill_sectors(std::uint64_t address, std::uint64_t sectors) {
  const SetView set = wake(index_(address));
  const std::uint64_t line = line_of(address);
  std::uint32_t way = find_way(set, line);
  if (way != no_way) return set.state.add_sectors(way, sectors);
  way = choose_way(set, line);
  set.state.set_tag(way, Tag(line, sectors));
  replacement_.on_fill(set, way);
  if (data_lines_ > 0) limit_data(line, set.first_slot + way);
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
  fill_sectors(address, sector_of(address));
}

void CacheArray::drop(std::uint64_t address) {
  const SetView set = wake(index_(address));
  const std::uint64_t line = line_of(address);
  const std::uint32_t way = find_way(set, line);
  if (way == no_way) return;
  if (mapped_) {
    where_.erase(line);
  } else {
    set.state.set_mark(way, 0);
  }
  set.state.set_tag(way, Tag());
  ++holes_;
  if (data_lines_ > 0) {
    filled_[set.first_slot + way] = 0;
    --present_lines_;
  }
}

bool CacheArray::contains(std::uint64_t address) {
  const SetView set = wake(index_(address));
  const std::uint32_t way = find_way(set, line_of(address));
  return way != no_way && set.state.tag(way).has_all(sector_of(address));
}

}  // namespace sonde::sim
