// One cache array at work.
#include "device/sim/cache_array.hpp"

#include <algorithm>
#include <bit>

namespace sonde::sim {
namespace {

constexpr std::uint32_t no_way = ~0u;

/// A set lies in one line of the host, or in few whole ones.
std::uint32_t words_of_block(std::uint32_t words) {
  return words <= host_line_words ? std::bit_ceil(words)
                                  : (words + host_line_words - 1) & ~(host_line_words - 1);
}

}  // namespace

CacheArray::CacheArray(const CacheModel& model, const Geometry& geometry, SetIndex index)
    : index_(std::move(index)),
      layout_(geometry),
      line_bytes_(model.line_bytes),
      line_shift_(std::countr_zero(model.line_bytes)),
      sector_bytes_(model.sector_bytes),
      sector_shift_(std::countr_zero(model.sector_bytes)),
      fetch_bytes_(model.fetch_bytes),
      block_sectors_((std::uint64_t{1} << (std::min(fetch_bytes_, line_bytes_) / sector_bytes_)) -
                     1),
      block_place_((line_bytes_ - 1) & ~(fetch_bytes_ - 1)),
      write_policy_(model.write_policy),
      mapped_(geometry.most_ways() > narrow_ways),
      mark_words_(mapped_ ? 0 : marks::words_for(geometry.most_ways())),
      block_words_(words_of_block(SetRecord::marks_word + mark_words_ +
                                  (mapped_ ? 0 : geometry.most_ways()))),
      words_(geometry.ways_per_set.size() * block_words_),
      wide_tags_(mapped_ ? layout_.slots() : 0),
      replacement_(geometry, layout_.slots()),
      data_lines_(geometry.data_lines),
      filled_(data_lines_ > 0 ? layout_.slots() : 0),
      where_(mapped_ ? layout_.slots() : 0) {}

void CacheArray::clear(std::uint64_t seed) {
  ++generation_;
  holes_ = 0;
  present_lines_ = 0;
  fill_order_.clear();
  replacement_.clear(seed);
  if (mapped_) where_.clear();
}

[[gnu::noinline]] void CacheArray::empty(const SetView& set) {
  set.record.clear(generation_, mark_words_);
  replacement_.clear_set(set);
}

/// The set of that number, emptied if it was last used before the cache was cleared.
template <bool wide>
SONDE_HOT SetView CacheArray::wake(std::uint32_t number) {
  const SetShape shape = layout_[number];
  std::uint64_t* block = &words_[std::size_t{number} * block_words_];
  std::uint64_t* tags =
      wide ? &wide_tags_[shape.first_slot] : block + SetRecord::marks_word + mark_words_;
  const SetView set{number, shape.first_slot, shape.ways, SetRecord(block, tags)};
  if (set.record.generation() != generation_) [[unlikely]]
    empty(set);
  return set;
}

template <bool wide>
SONDE_HOT std::uint32_t CacheArray::find_way(const SetView& set, std::uint64_t line) const {
  if (wide) {
    const std::uint32_t slot =
        where_.find(line, [&](std::uint32_t held) { return Tag(wide_tags_[held]).line() == line; });
    return slot == LineMap::absent ? no_way : slot - set.first_slot;
  }
  std::uint64_t found = marks::find(set.record.marks(), set.ways, marks::mark_of(line));
  for (; found != 0; found &= found - 1) {
    const std::uint32_t way = marks::next_way(found);
    if (set.record.tag(way).line() == line) return way;
  }
  return no_way;
}

/// A way that a line has left.
[[gnu::noinline]] std::uint32_t find_hole(const SetView& set) {
  for (std::uint32_t way = 0; way < set.record.used(); ++way) {
    if (set.record.tag(way).line() == Tag::no_line) return way;
  }
  return no_way;
}

/// A way for a new line. Holes are filled first, then ways that were never used, then the victim
/// leaves.
template <bool wide>
SONDE_HOT std::uint32_t CacheArray::place(const SetView& set, std::uint64_t line) {
  std::uint32_t way = holes_ > 0 ? find_hole(set) : no_way;
  if (way != no_way) {
    --holes_;
  } else if (set.record.used() < set.ways) {
    way = set.record.use_next();
  } else {
    way = replacement_.victim(set);
    if (wide) where_.erase(set.record.tag(way).line(), set.first_slot + way);
    if (data_lines_ > 0) --present_lines_;
  }
  if (wide) where_.insert(line, set.first_slot + way);
  return way;
}

template <bool wide>
SONDE_HOT void CacheArray::put(const SetView& set, std::uint32_t way, Tag tag) {
  set.record.set_tag(way, tag);
  if (!wide) set.record.set_mark(way, tag.line() == Tag::no_line ? 0 : marks::mark_of(tag.line()));
}

/// A line was filled: if there is no room for its data, the one filled longest ago leaves.
[[gnu::noinline]] void CacheArray::keep_to_room(std::uint64_t line, std::size_t slot) {
  filled_[slot] = ++fills_;
  fill_order_.push_back({line, slot, fills_});
  ++present_lines_;
  while (true) {
    const Fill oldest = fill_order_.front();
    const bool is_there = filled_[oldest.slot] == oldest.number;
    if (is_there && present_lines_ <= data_lines_) return;
    fill_order_.pop_front();
    if (is_there) drop(oldest.line << line_shift_);
  }
}

template <bool wide>
SONDE_HOT bool CacheArray::access_line(std::uint32_t number, std::uint64_t address,
                                       std::uint64_t span_bytes) {
  const SetView set = wake<wide>(number);
  const std::uint64_t line = address >> line_shift_;
  const std::uint64_t wanted = sectors_of(address, span_bytes);
  std::uint32_t way = find_way<wide>(set, line);
  if (way != no_way) {
    replacement_.on_hit(set, way);
    const bool hit = set.record.tag(way).has_all(wanted);
    if (!hit) set.record.add_sectors(way, wanted | fetched_with(address));
    return hit;
  }
  way = place<wide>(set, line);
  put<wide>(set, way, Tag(line, wanted | fetched_with(address)));
  replacement_.on_fill(set, way);
  if (data_lines_ > 0) keep_to_room(line, set.first_slot + way);
  return false;
}

bool CacheArray::access_narrow(std::uint32_t set, std::uint64_t address, std::uint64_t span_bytes) {
  if (span_bytes > line_bytes_) return access_lines(address, span_bytes);
  return access_line<false>(set, address, span_bytes);
}

bool CacheArray::access_wide(std::uint32_t set, std::uint64_t address, std::uint64_t span_bytes) {
  if (span_bytes > line_bytes_) return access_lines(address, span_bytes);
  return access_line<true>(set, address, span_bytes);
}

/// A span of several lines, the one of `address` first.
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
  }
}

void CacheArray::drop(std::uint64_t address) {
  const SetView set = wake(index_(address));
  const std::uint64_t line = address >> line_shift_;
  const std::uint32_t way = find_way(set, line);
  if (way == no_way) return;
  if (mapped_) {
    where_.erase(line, set.first_slot + way);
    put<true>(set, way, Tag());
  } else {
    put<false>(set, way, Tag());
  }
  ++holes_;
  if (data_lines_ > 0) {
    filled_[set.first_slot + way] = 0;
    --present_lines_;
  }
}

bool CacheArray::contains(std::uint64_t address) {
  const SetView set = wake(index_(address));
  const std::uint32_t way = find_way(set, address >> line_shift_);
  return way != no_way && set.record.tag(way).has_all(sector_of(address));
}

}  // namespace sonde::sim
