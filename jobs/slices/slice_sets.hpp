// Sets of one slice of the L2: few enough lines for the search that a whole L2 is too large for.
#pragma once

#include "analysis/structure/sets/line_pool.hpp"
#include "jobs/sets/sets_probe.hpp"
#include "jobs/slices/page_slices.hpp"

namespace sonde {

struct SliceSets {
  std::vector<std::uint32_t> ways;  // of each set that was searched for
  PackedLines packed = {};
  ReplacementFit replacement = {};
  std::string reason = {};  // no ways: why not
};

/// Ways of some sets, the room of all of them, and the replacement policy, from lines of one slice
/// out of as many pages as hold twice what it has room for.
/// @param page a page whose slices are known
/// @throws DeviceError, DeviceLostError
SliceSets measure_slice_sets(JobRun& run, const PageSlices& page, std::uint64_t line_bytes);

/// Reports `cache.l2.slice_ways .slice_sets .slice_bytes .slice_replacement`.
void report_slice_sets(JobRun& run, const SliceSets& sets, std::uint64_t line_bytes);

}  // namespace sonde
