// Whether the misses of a path's first cache go to the L2, or to a cache between the two.
#pragma once

#include "jobs/chase/cache_under_test.hpp"

#include <optional>

namespace sonde {

/// Half way between hits of the first cache and those of a cache that lies between it and the L2
/// (RDNA's GL1, the L1.5 of some GPUs): such hits are misses of the first. nullopt if there is none
/// below the threshold of `cache`, which is that between hits and the L2. Loads go page by page: in
/// any order slow translations look alike as footprints grow.
/// @throws DeviceError, DeviceLostError
std::optional<double> threshold_before_middle(const CacheUnderTest& cache);

/// Half way between hits of a cache that all loads meet, those past the L1, too, and what lies
/// behind it; nullopt if nothing does, or if it is the memory, so that it is
/// the L2.
/// @param memory_cycles latencies of lines that only the memory can serve
/// @throws DeviceError, DeviceLostError
std::optional<double> threshold_of_common_cache(const CacheUnderTest& cache,
                                                const std::vector<double>& memory_cycles);

/// Whether lines that one SM loaded are hits of this cache for any other: then it is the device's
/// L2, and what lies behind it a cache on the side of the memory.
/// @param threshold_cycles between its hits and what lies behind it
/// @throws DeviceError, DeviceLostError
bool is_shared_by_all(const CacheUnderTest& cache, double threshold_cycles);

}  // namespace sonde
