// Lines that another SM has just loaded: whether an L2 lies in several partitions. A part of the
// job cache.l2. Method: docs/methods/l2-partitions.md.
#pragma once

#include "jobs/chase/cache_under_test.hpp"

#include <optional>
#include <vector>

namespace sonde {

enum class L2Parts { one, several, not_told };

struct LoadedElsewhere {
  L2Parts kind = L2Parts::not_told;  // not_told: fewer than two SMs could be asked
  std::vector<std::vector<double>> far_hits_of_sm = {};  // of several, of SMs that have any
};

/// SMs all over the chip load lines all over the memory that another SM has just loaded, and they
/// themselves have not. In one L2 all are hits of the same kind. In several partitions those with
/// their home in another one are far, whether copies are kept or not.
/// @throws DeviceError, DeviceLostError
LoadedElsewhere look_for_parts(const CacheUnderTest& cache);

}  // namespace sonde
