// The slices of one page, and lines of one slice from many pages: some SMs of a GPC time atomics to
// all lines while SMs of other GPCs make reductions on one line.
#pragma once

#include "analysis/structure/index/slice_labels.hpp"
#include "analysis/structure/sets/miss_oracle.hpp"
#include "jobs/chase/pointer_chase.hpp"

#include <string>
#include <vector>

namespace sonde {

/// SMs for the reductions: `of_each_gpc` from every GPC except the prober's, whose SMs would delay
/// everything in its port. If GPCs are not known: seven times as many, spread over all SMs.
/// @param gpc_of_sm empty, or the GPC of each SM; -1: not known
std::vector<int> choose_co_runners(const std::vector<double>& gpc_of_sm, int sm_count, int prober,
                                   int of_each_gpc);

/// The slices of a page, and the SMs that measured them.
struct PageSlices {
  SliceLabels slices;
  int prober = 0;
  std::size_t co_runners = 0;
  int of_each_gpc = 0;  // co-runners per GPC, see choose_co_runners
};

/// Labels every line of the page at the draw's place. Uses more co-runners if fewer make no line
/// wait.
/// @throws DeviceError, DeviceLostError
PageSlices label_page(JobRun& run, const Draw& draw, std::uint64_t line_bytes);

/// Lines of one slice and, in a divided L2, of the partition near the draw's SM.
struct SliceLines {
  Lines offsets;  // in the buffer, ascending
  std::uint64_t pages = 0;
  std::uint64_t buffer_bytes = 0;
  std::string reason;  // why there are no lines
};

/// Searches `pages` further pages for lines in the slice of one line of the first page: lines that
/// wait every time while co-runners make reductions on that line.
/// @param co_runners SMs for the reductions; as many as label_page needed
/// @throws DeviceError, DeviceLostError
SliceLines collect_slice_lines(JobRun& run, const Draw& draw, std::uint64_t line_bytes,
                               const std::vector<int>& co_runners, std::uint64_t pages);

}  // namespace sonde
