// Where the sets of a cache lie in the host's memory.
#include "device/sim/set_layout.hpp"

#include <algorithm>

namespace sonde::sim {

SetLayout::SetLayout(const Geometry& geometry, std::uint32_t slots_per_host_line) {
  const std::uint32_t first = geometry.ways_per_set.front();
  const bool equal = std::all_of(geometry.ways_per_set.begin(), geometry.ways_per_set.end(),
                                 [first](std::uint32_t ways) { return ways == first; });
  if (equal) {
    ways_ = stride_ = first;
    if (2 * first >= slots_per_host_line) {
      stride_ = (first + slots_per_host_line - 1) & ~(slots_per_host_line - 1);
    }
    slots_ = stride_ * static_cast<std::uint32_t>(geometry.ways_per_set.size());
    return;
  }
  for (std::uint32_t ways : geometry.ways_per_set) {
    shapes_.push_back({.first_slot = slots_, .ways = ways});
    slots_ += ways;
  }
}

}  // namespace sonde::sim
