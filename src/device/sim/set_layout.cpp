// Where the sets of a cache lie in the host's memory.
#include "device/sim/set_layout.hpp"

#include <algorithm>

namespace sonde::sim {

SetLayout::SetLayout(const Geometry& geometry) {
  const std::uint32_t first = geometry.ways_per_set.front();
  const bool equal = std::all_of(geometry.ways_per_set.begin(), geometry.ways_per_set.end(),
                                 [first](std::uint32_t ways) { return ways == first; });
  if (equal) {
    ways_ = first;
    slots_ = first * static_cast<std::uint32_t>(geometry.ways_per_set.size());
    return;
  }
  for (std::uint32_t ways : geometry.ways_per_set) {
    shapes_.push_back({.first_slot = slots_, .ways = ways});
    slots_ += ways;
  }
}

}  // namespace sonde::sim
