// Lines that another SM has just loaded: whether an L2 lies in several partitions (a part of the
// job cache.l2; docs/methods/l2-partitions.md), and how soon it answers.
#pragma once

#include "jobs/chase/cache_under_test.hpp"

#include <optional>
#include <vector>

namespace sonde {

enum class L2Parts { one, several, not_told };

struct LoadedElsewhere {
  L2Parts kind = L2Parts::not_told;  // not_told: fewer than two SMs could be asked
  std::size_t partitions = 0;        // of several; 0: not known how many
  std::vector<std::vector<double>> far_hits_of_sm = {};  // of several, of SMs that have any
  std::vector<std::vector<double>> cycles_of_sm = {};    // of all lines, by SM that was asked
};

/// What an SM takes that meets no cache before the L2 which the loader shares.
struct ServedElsewhere {
  std::vector<double> soonest;  // from the L2, of several partitions from the nearest
  std::vector<double> later;    // than that, but sooner than from the memory
};

/// Latencies of an SM none of whose lines comes as soon as a line that it has loaded before, nor as
/// late as from the memory: loads past the L1 then meet a cache that this SM does not share with
/// the loader, and what serves it is the L2. nullopt if there is no such SM.
/// @param own latencies of lines that an SM has loaded before  @param memory of lines that no cache
///   holds
std::optional<ServedElsewhere> later_than_own(const LoadedElsewhere& loaded,
                                              const std::vector<double>& own,
                                              const std::vector<double>& memory);

/// Latencies on the chase's SM of lines that one far from it has just loaded in the same way, few
/// enough for the L2 that the job cache.l2 found: unless both SMs share a cache before it, that is
/// who answers. Empty if there is one SM only, or no L2 is known.
/// @param most_bytes of memory  @throws DeviceError, DeviceLostError
std::vector<double> measure_loaded_elsewhere(const CacheUnderTest& cache, std::uint64_t most_bytes);

/// SMs all over the chip load lines all over the memory that another SM has just loaded, and they
/// themselves have not. In one L2 all are hits of the same kind. In several partitions those with
/// their home in another one are far, whether copies are kept or not.
/// @throws DeviceError, DeviceLostError
LoadedElsewhere look_for_parts(const CacheUnderTest& cache);

}  // namespace sonde
