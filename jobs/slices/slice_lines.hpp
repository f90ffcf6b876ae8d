// Lines of one slice of the L2 out of many pages: those that wait for reductions on one line of it.
#pragma once

#include "analysis/structure/sets/miss_oracle.hpp"
#include "jobs/slices/page_slices.hpp"

#include <cstdint>

namespace sonde {

/// Lines of one slice and, of a divided L2, of one partition: the one near to the draw's SM.
struct SliceLines {
  Lines offsets;  // of the buffer; ascending
  std::uint64_t pages = 0;
  std::uint64_t buffer_bytes = 0;
  std::string reason;  // no lines: why not
};

/// Looks for lines of the slice of one line of the first page in `pages` others. A line belongs to
/// it if it waits while co-runners make reductions on that one, as often as it is asked.
/// @param co_runners SMs that make the reductions, as label_page found them to be enough
/// @throws DeviceError, DeviceLostError
SliceLines collect_slice_lines(JobRun& run, const Draw& draw, std::uint64_t line_bytes,
                               const std::vector<int>& co_runners, std::uint64_t pages);

}  // namespace sonde
