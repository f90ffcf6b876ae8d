// Where a line sits in a wide set.
#include "device/sim/line_map.hpp"

#include <algorithm>
#include <bit>

namespace sonde::sim {

LineMap::LineMap(std::size_t slots)
    : mask_(std::bit_ceil(slots * 2 + 2) - 1), shift_(std::countl_zero(mask_)), cells_(mask_ + 1) {}

void LineMap::insert(std::uint64_t line, std::uint32_t slot) {
  std::size_t at = home(line + 1);
  while (cells_[at] != 0) at = (at + 1) & mask_;
  cells_[at] = (line + 1) << slot_bits | slot;
}

void LineMap::erase(std::uint64_t line) {
  std::size_t hole = home(line + 1);
  while (cells_[hole] >> slot_bits != line + 1) hole = (hole + 1) & mask_;
  // Backward shift: a cell may move into the hole if its home does not lie behind the hole.
  for (std::size_t at = (hole + 1) & mask_; cells_[at] != 0; at = (at + 1) & mask_) {
    const std::size_t distance = (at - home(cells_[at] >> slot_bits)) & mask_;
    if (distance >= ((at - hole) & mask_)) {
      cells_[hole] = cells_[at];
      hole = at;
    }
  }
  cells_[hole] = 0;
}

void LineMap::clear() { std::fill(cells_.begin(), cells_.end(), 0); }

}  // namespace sonde::sim
