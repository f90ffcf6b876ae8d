// The sets of one slice of the L2. A whole L2 has too many lines for that search.
#pragma once

#include "analysis/structure/sets/line_pool.hpp"
#include "jobs/sets/sets_probe.hpp"
#include "jobs/slices/page_slices.hpp"

namespace sonde {

/// The sets of a slice, as far as they were measured.
struct SliceSets {
  std::vector<std::uint32_t> ways;  // of each measured set
  PackedLines packed = {};
  ReplacementFit replacement = {};
  std::string reason = {};  // why there are no ways
};

/// Ways of some sets, the room of all sets, and the replacement policy, from lines of one slice in
/// enough pages for twice its room.
/// @param page a page whose slices are known
/// @throws DeviceError, DeviceLostError
SliceSets measure_slice_sets(JobRun& run, const PageSlices& page, std::uint64_t line_bytes);

/// Reports `cache.l2.slice_ways .slice_sets .slice_bytes .slice_total_bytes .slice_replacement`.
void report_slice_sets(JobRun& run, const SliceSets& sets, std::uint64_t line_bytes);

}  // namespace sonde
