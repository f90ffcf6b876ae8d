// One cache array at work.
#include "device/sim/cache_array.hpp"

#include <algorithm>
#include <bit>

namespace sonde::sim {
namespace {

// Up to this many ways a linear search is faster than a look into the map.
constexpr std::uint32_t narrow_ways = 20;

constexpr std::uint32_t no_way = ~0u;

std::uint32_t widest(const Geometry& geometry) {
  return *std::max_element(geometry.ways_per_set.begin(), geometry.ways_per_set.end());
}

}  // namespace

LineMap::LineMap(std::size_t lines)
    : mask_(lines == 0 ? 0 : std::bit_ceil(lines * 2) - 1), cells_(mask_ + 1) {}

std::uint32_t LineMap::find(std::uint64_t line) const {
  for (std::size_t at = home(line + 1); cells_[at].key != 0; at = (at + 1) & mask_) {
    if (cells_[at].key == line + 1) return cells_[at].slot;
  }
  return absent;
}

void LineMap::insert(std::uint64_t line, std::uint32_t slot) {
  std::size_t at = home(line + 1);
  while (cells_[at].key != 0) at = (at + 1) & mask_;
  cells_[at] = {line + 1, slot};
}

void LineMap::erase(std::uint64_t line) {
  std::size_t hole = home(line + 1);
  while (cells_[hole].key != line + 1) hole = (hole + 1) & mask_;
  // Backward shift: a cell may move into the hole if its home does not lie behind the hole.
  for (std::size_t at = (hole + 1) & mask_; cells_[at].key != 0; at = (at + 1) & mask_) {
    const std::size_t distance = (at - home(cells_[at].key)) & mask_;
    if (distance >= ((at - hole) & mask_)) {
      cells_[hole] = cells_[at];
      hole = at;
    }
  }
  cells_[hole] = {};
}

void LineMap::clear() { std::fill(cells_.begin(), cells_.end(), Cell{}); }

CacheArray::CacheArray(const CacheModel& model, const Geometry& geometry)
    : index_(geometry.index, static_cast<std::uint32_t>(geometry.ways_per_set.size())),
      line_bytes_(model.line_bytes),
      line_shift_(std::countr_zero(model.line_bytes)),
      sector_shift_(std::countr_zero(model.sector_bytes)),
      fetch_bytes_(model.fetch_bytes),
      write_policy_(model.write_policy),
      lines_(geometry.lines()),
      sectors_(geometry.lines()),
      replacement_(geometry.replacement, geometry.ways_per_set.size(), geometry.lines()),
      mapped_(widest(geometry) > narrow_ways),
      where_(mapped_ ? geometry.lines() : 0) {
  std::uint32_t first_slot = 0;
  for (std::uint32_t ways : geometry.ways_per_set) {
    sets_.push_back({.first_slot = first_slot, .ways = ways});
    first_slot += ways;
  }
}

void CacheArray::clear(std::uint64_t seed) {
  ++generation_;
  holes_ = 0;
  last_line_ = no_line;
  replacement_.clear(seed);
  if (mapped_) where_.clear();
}

/// The set of an address, emptied if it was last used before the cache was cleared.
CacheArray::SetState& CacheArray::wake(std::uint32_t number) {
  SetState& set = sets_[number];
  if (set.generation != generation_) {
    set.generation = generation_;
    set.used = 0;
    replacement_.clear_set(set.view(number));
  }
  return set;
}

std::uint32_t CacheArray::find_way(const SetState& set, std::uint64_t line) const {
  if (mapped_) {
    const std::uint32_t slot = where_.find(line);
    return slot == LineMap::absent ? no_way : slot - set.first_slot;
  }
  const std::uint64_t* first = lines_.data() + set.first_slot;
  for (std::uint32_t way = 0; way < set.used; ++way) {
    if (first[way] == line) return way;
  }
  return no_way;
}

/// A way of the set that its line has left.
std::uint32_t CacheArray::find_hole(const SetState& set) const {
  const auto first = lines_.begin() + set.first_slot;
  const auto hole = std::find(first, first + set.used, no_line);
  return hole == first + set.used ? no_way : static_cast<std::uint32_t>(hole - first);
}

/// Holes are filled first, then ways that were never used, then the victim leaves.
std::uint32_t CacheArray::place(SetState& set, const SetView& view, std::uint64_t line) {
  std::uint32_t way = holes_ == 0 ? no_way : find_hole(set);
  if (way != no_way) {
    --holes_;
  } else if (set.used < set.ways) {
    way = set.used++;
  } else {
    way = replacement_.victim(view);
    if (mapped_) where_.erase(lines_[set.first_slot + way]);
  }
  const std::uint32_t slot = set.first_slot + way;
  if (mapped_) where_.insert(line, slot);
  lines_[slot] = line;
  return way;
}

std::uint32_t CacheArray::fetched_sectors(std::uint64_t address) const {
  const std::uint64_t block = std::min(fetch_bytes_, line_bytes_);
  const auto count = static_cast<std::uint32_t>(block >> sector_shift_);
  const std::uint32_t ones = count >= 32 ? ~0u : (1u << count) - 1;
  return ones * sector_bit(address & ~(block - 1));
}

bool CacheArray::access(std::uint64_t address) {
  const std::uint32_t number = index_(address);
  SetState& set = wake(number);
  const SetView view = set.view(number);
  const std::uint64_t line = address >> line_shift_;
  std::uint32_t way = line == last_line_ ? last_way_ : find_way(set, line);
  bool hit = false;
  if (way != no_way) {
    replacement_.on_hit(view, way);
    std::uint32_t& sectors = sectors_[set.first_slot + way];
    hit = (sectors & sector_bit(address)) != 0;
    if (!hit) sectors |= fetched_sectors(address);
  } else {
    way = place(set, view, line);
    sectors_[set.first_slot + way] = fetched_sectors(address);
    replacement_.on_fill(view, way);
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
  SetState& set = wake(index_(address));
  const std::uint64_t line = address >> line_shift_;
  const std::uint32_t way = find_way(set, line);
  if (way == no_way) return;
  if (mapped_) where_.erase(line);
  lines_[set.first_slot + way] = no_line;
  ++holes_;
  last_line_ = no_line;
}

bool CacheArray::contains(std::uint64_t address) const {
  const SetState& set = sets_[index_(address)];
  if (set.generation != generation_) return false;
  const std::uint32_t way = find_way(set, address >> line_shift_);
  return way != no_way && (sectors_[set.first_slot + way] & sector_bit(address)) != 0;
}

}  // namespace sonde::sim
