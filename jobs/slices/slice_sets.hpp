// The sets of one slice of the L2. A whole L2 has too many lines for that search.
#pragma once

#include "jobs/slices/page_slices.hpp"

namespace sonde {

/// Reports `cache.l2.slice_ways .slice_sets .slice_bytes .slice_total_bytes .slice_replacement`:
/// ways of some sets, the room of all sets, and the replacement policy, from lines of one slice in
/// enough pages for twice its room.
/// @param page a page whose slices are known
/// @throws DeviceError, DeviceLostError
void report_slice_sets(JobRun& run, const PageSlices& page, std::uint64_t line_bytes);

}  // namespace sonde
