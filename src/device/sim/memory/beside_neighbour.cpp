// Loads of a GPU that another process uses, too.
#include "device/sim/memory/memory_system.hpp"

#include "base/random.hpp"

#include <algorithm>

namespace sonde::sim {

void MemorySystem::share_with(const std::optional<Neighbour>& neighbour, std::uint64_t seed) {
  neighbour_share_ = neighbour ? neighbour->share : 0;
  neighbour_draws_ = Random(derive_seed(seed, "loads of the neighbour"));
}

/// Some lines have left the L2 for those of the neighbour when they are asked for again, and loads
/// that come as far as the L2 wait for its loads: by up to its share of their latency, mostly less.
[[gnu::noinline]] Load MemorySystem::load_beside_neighbour(std::size_t number,
                                                           const Access& access) {
  constexpr double evicted = 0.1;  // of the lines, for each unit of its share
  const Route& route = routes_[number];
  if (route.shares_last && neighbour_draws_.unit() < evicted * neighbour_share_) {
    const bool is_virtual = route.virtual_levels == route.level_count;
    for (CacheArray* array : route.last().by_home) {
      array->drop(is_virtual ? access.address : access.physical);
    }
  }
  Load load = route.executes ? execute(number, access) : fetch(number, access);
  const double drawn = neighbour_draws_.unit();
  const bool hits_first =
      route.level_count > 1 &&
      load.latency_cycles <= std::ranges::max(route.levels.front().hit.latency_cycles);
  if (!hits_first) {
    const double wait_cycles = neighbour_share_ * load.latency_cycles * drawn * drawn * drawn;
    load.latency_cycles += static_cast<std::uint32_t>(wait_cycles);
  }
  return load;
}

}  // namespace sonde::sim
