// One cache array at work.
#include "device/sim/cache_array.hpp"

#include <algorithm>
#include <bit>
#include <numeric>

namespace sonde::sim {
namespace {

// Up to this many ways a linear search is faster than a look into the map.
constexpr std::uint32_t narrow_ways = 20;

constexpr std::uint32_t no_way = ~0u;

std::uint32_t widest(const Geometry& geometry) {
  return *std::max_element(geometry.ways_per_set.begin(), geometry.ways_per_set.end());
}

std::vector<std::uint32_t> place_sets(const Geometry& geometry) {
  std::vector<std::uint32_t> first(geometry.ways_per_set.size() + 1);
  std::partial_sum(geometry.ways_per_set.begin(), geometry.ways_per_set.end(), first.begin() + 1);
  return first;
}

}  // namespace

LineMap::LineMap(std::uint32_t lines)
    : mask_(lines == 0 ? 0 : std::bit_ceil(std::size_t{lines} * 2) - 1), cells_(mask_ + 1) {}

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
      first_slots_(place_sets(geometry)),
      used_(geometry.ways_per_set.size()),
      lines_(first_slots_.back()),
      sectors_(first_slots_.back()),
      replacement_(geometry.replacement, static_cast<std::uint32_t>(used_.size()),
                   first_slots_.back()),
      mapped_(widest(geometry) > narrow_ways),
      where_(mapped_ ? first_slots_.back() : 0) {}

void CacheArray::clear(std::uint64_t seed) {
  std::fill(used_.begin(), used_.end(), 0);
  replacement_.clear(seed);
  if (mapped_) where_.clear();
}

SetView CacheArray::view_of(std::uint64_t address) const {
  const std::uint32_t set = index_(address);
  return {set, first_slots_[set], first_slots_[set + 1] - first_slots_[set]};
}

std::uint32_t CacheArray::find_way(const SetView& view, std::uint64_t line) const {
  if (mapped_) {
    const std::uint32_t slot = where_.find(line);
    return slot == LineMap::absent ? no_way : slot - view.first_slot;
  }
  const std::uint64_t* first = lines_.data() + view.first_slot;
  for (std::uint32_t way = 0; way < used_[view.set]; ++way) {
    if (first[way] == line) return way;
  }
  return no_way;
}

std::uint32_t CacheArray::place(const SetView& view, std::uint64_t line) {
  const bool full = used_[view.set] == view.ways;
  const std::uint32_t way = full ? replacement_.victim(view) : used_[view.set]++;
  const std::uint32_t slot = view.first_slot + way;
  if (mapped_) {
    if (full) where_.erase(lines_[slot]);
    where_.insert(line, slot);
  }
  lines_[slot] = line;
  sectors_[slot] = 0;
  return way;
}

std::uint32_t CacheArray::fetched_sectors(std::uint64_t address) const {
  const std::uint64_t block = std::min(fetch_bytes_, line_bytes_);
  const auto count = static_cast<std::uint32_t>(block >> sector_shift_);
  const std::uint32_t ones = count >= 32 ? ~0u : (1u << count) - 1;
  return ones * sector_bit(address & ~(block - 1));
}

bool CacheArray::access(std::uint64_t address) {
  const SetView view = view_of(address);
  const std::uint64_t line = address >> line_shift_;
  const std::uint32_t found = find_way(view, line);
  if (found != no_way) {
    replacement_.on_hit(view, found);
    std::uint32_t& sectors = sectors_[view.first_slot + found];
    if ((sectors & sector_bit(address)) != 0) return true;
    sectors |= fetched_sectors(address);
    return false;
  }
  const std::uint32_t way = place(view, line);
  sectors_[view.first_slot + way] = fetched_sectors(address);
  replacement_.on_fill(view, way);
  return false;
}

bool CacheArray::contains(std::uint64_t address) const {
  const SetView view = view_of(address);
  const std::uint32_t found = find_way(view, address >> line_shift_);
  return found != no_way && (sectors_[view.first_slot + found] & sector_bit(address)) != 0;
}

}  // namespace sonde::sim
