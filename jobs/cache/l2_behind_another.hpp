// The L2 behind a cache that loads past the L1 meet, too (RDNA's GL1): measured as any cache behind
// another one. A part of the job cache.l2. Method: docs/methods/cache-levels.md.
#pragma once

#include "jobs/chase/cache_under_test.hpp"

#include <string>
#include <vector>

namespace sonde {

/// Latencies of loads past the L1, by who serves them.
struct ServedLoads {
  std::vector<double> before_l2;  // of a few lines: by the cache before it
  std::vector<double> l2;         // of lines that another SM has just loaded
  std::vector<double> far;        // of such lines in another partition of it, if it has several
  std::vector<double> memory;     // with their translation at hand
};

/// Reports what can be told of the L2; gives back why the rest is not resolvable.
/// @throws DeviceError, DeviceLostError
std::string characterize_l2_behind_another(CacheUnderTest cache, const ServedLoads& served);

}  // namespace sonde
