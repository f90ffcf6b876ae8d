// One cache array at work.
#include "device/sim/cache_array.hpp"

#include <algorithm>
#include <bit>

namespace sonde::sim {
namespace {

constexpr std::uint32_t no_way = ~0u;

/// A set then lies in one line of the host, or in few whole ones.
std::size_t words_of_record(std::uint32_t ways, bool mapped) {
  return std::bit_ceil(SetRecord::marks_word + (mapped ? 0 : marks::words_for(ways)));
}

}  // namespace

CacheArray::CacheArray(const CacheModel& model, const Geometry& geometry)
    : index_(geometry.index, static_cast<std::uint32_t>(geometry.ways_per_set.size())),
      layout_(geometry, host_line_bytes / sizeof(Tag)),
      line_bytes_(model.line_bytes),
      line_shift_(std::countr_zero(model.line_bytes)),
      sector_shift_(std::countr_zero(model.sector_bytes)),
      fetch_bytes_(model.fetch_bytes),
      block_sectors_((std::uint64_t{1} << (model.fetch_bytes / model.sector_bytes)) - 1),
      write_policy_(model.write_policy),
      mapped_(geometry.most_ways() > narrow_ways),
      record_words_(words_of_record(geometry.most_ways(), mapped_)),
      records_(geometry.ways_per_set.size() * record_words_),
      tags_(layout_.slots()),
      replacement_(geometry, layout_.slots()),
      data_lines_(geometry.data_lines),
      filled_(data_lines_ > 0 ? layout_.slots() : 0),
      where_(mapped_ ? layout_.slots() : 0) {}

void CacheArray::clear(std::uint64_t seed) {
  ++generation_;
  holes_ = 0;
  present_lines_ = 0;
  fill_order_.clear();
  last_line_ = Tag::no_line;
  replacement_.clear(seed);
  if (mapped_) where_.clear();
}

/// The set of that number, emptied if it was last used before the cache was cleared.
inline SetView CacheArray::wake(std::uint32_t number) {
  const SetShape shape = layout_[number];
  SetRecord record(&records_[number * record_words_]);
  const SetView set{number, shape.first_slot, shape.ways, record};
  if (record.generation() != generation_) {
    record.clear(generation_, record_words_);
    replacement_.clear_set(set);
  }
  return set;
}

inline std::uint32_t CacheArray::find_way(const SetView& set, std::uint64_t line) const {
  if (mapped_) {
    const std::uint32_t slot =
        where_.find(line, [&](std::uint32_t held) { return tags_[held].line() == line; });
    return slot == LineMap::absent ? no_way : slot - set.first_slot;
  }
  const Tag* first = tags_.data() + set.first_slot;
  std::uint64_t found = marks::find(set.record.marks(), set.ways, marks::mark_of(line));
  for (; found != 0; found &= found - 1) {
    const std::uint32_t way = marks::next_way(found);
    if (first[way].line() == line) return way;
  }
  return no_way;
}

/// A way for a new line. Holes are filled first, then ways that were never used, then the victim
/// leaves.
inline std::uint32_t CacheArray::place(const SetView& set, std::uint64_t line) {
  const Tag* first = tags_.data() + set.first_slot;
  std::uint32_t way = no_way;
  if (holes_ > 0) {
    const Tag* end = first + set.record.used();
    const Tag* hole =
        std::find_if(first, end, [](const Tag& tag) { return tag.line() == Tag::no_line; });
    if (hole != end) way = static_cast<std::uint32_t>(hole - first);
  }
  if (way != no_way) {
    --holes_;
  } else if (set.record.used() < set.ways) {
    way = set.record.use_next();
  } else {
    way = replacement_.victim(set);
    if (mapped_) where_.erase(first[way].line(), set.first_slot + way);
    if (data_lines_ > 0) --present_lines_;
  }
  if (mapped_) where_.insert(line, set.first_slot + way);
  return way;
}

inline void CacheArray::put(const SetView& set, std::uint32_t way, Tag tag) {
  tags_[set.first_slot + way] = tag;
  if (!mapped_)
    set.record.set_mark(way, tag.line() == Tag::no_line ? 0 : marks::mark_of(tag.line()));
}

/// A line was filled: if there is no room for its data, the one filled longest ago leaves.
void CacheArray::keep_to_room(std::uint64_t line, std::size_t slot) {
  filled_[slot] = ++fills_;
  fill_order_.push_back({line, slot, fills_});
  ++present_lines_;
  while (present_lines_ > data_lines_) {
    const Fill oldest = fill_order_.front();
    fill_order_.pop_front();
    if (filled_[oldest.slot] == oldest.number) drop(oldest.line << line_shift_);
  }
}

bool CacheArray::access(std::uint32_t number, std::uint64_t address) {
  const SetView set = wake(number);
  const std::uint64_t line = address >> line_shift_;
  std::uint32_t way = line == last_line_ ? last_way_ : find_way(set, line);
  bool hit = false;
  if (way != no_way) {
    replacement_.on_hit(set, way);
    Tag& tag = tags_[set.first_slot + way];
    hit = tag.has(sector_bit(address));
    if (!hit) tag.word |= fetched_sectors(address);
  } else {
    way = place(set, line);
    put(set, way, Tag(line, fetched_sectors(address)));
    replacement_.on_fill(set, way);
    if (data_lines_ > 0) keep_to_room(line, set.first_slot + way);
  }
  last_line_ = line;
  last_way_ = way;
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
  if (mapped_) where_.erase(line, set.first_slot + way);
  put(set, way, Tag());
  ++holes_;
  if (data_lines_ > 0) {
    filled_[set.first_slot + way] = 0;
    --present_lines_;
  }
  last_line_ = Tag::no_line;
}

bool CacheArray::contains(std::uint64_t address) {
  const SetView set = wake(index_(address));
  const std::uint32_t way = find_way(set, address >> line_shift_);
  return way != no_way && tags_[set.first_slot + way].has(sector_bit(address));
}

}  // namespace sonde::sim
