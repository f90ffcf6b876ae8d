// The slices of one page: an SM times atomics to all of its lines while others make reductions on
// one of them.
#pragma once

#include "analysis/structure/index/slice_labels.hpp"
#include "jobs/chase/pointer_chase.hpp"

#include <string>
#include <vector>

namespace sonde {

/// SMs to make reductions, `of_each_gpc` of every GPC but the prober's: those of its own would hold
/// up all that goes through its port. Where GPCs are not known, as many as eight GPCs would give,
/// all over the SMs.
/// @param gpc_of_sm empty, or the GPC of each SM; -1: not known
std::vector<int> choose_co_runners(const std::vector<double>& gpc_of_sm, int sm_count, int prober,
                                   int of_each_gpc);

/// What the labels of a page were measured with.
struct PageSlices {
  SliceLabels slices;
  int prober = 0;
  std::size_t co_runners = 0;
};

/// Labels every line of the page at a draw's place, by the draw's SM. With more co-runners where
/// few make no line wait.
/// @throws DeviceError, DeviceLostError
PageSlices label_page(JobRun& run, const Draw& draw, std::uint64_t line_bytes,
                      const std::vector<double>& gpc_of_sm);

}  // namespace sonde
