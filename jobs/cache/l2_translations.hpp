// Tells the cost of translations from misses of the L2, where pages are small: part of cache.l2.
#pragma once

#include "jobs/cache/geometry.hpp"

#include <optional>
#include <string>
#include <vector>

namespace sonde {

/// Where pages are small, translations that a TLB has lost look like misses: its reach would pass
/// for the size. Few lines over half as much again then look like that, too, and the threshold
/// rises above them; or there is no geometry, with the reason, if the memory answers as soon.
/// @param cache with a threshold between hits and misses
/// @param hits those of the few lines are added
/// @param geometry as the threshold shows it; measured again for each rise
void look_past_translations(CacheUnderTest& cache, std::vector<double>& hits,
                            const std::vector<double>& misses,
                            std::optional<CacheGeometry>& geometry, std::string& reason);

}  // namespace sonde
