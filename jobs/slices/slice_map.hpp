// Latencies of L2 hits by SM and line, one SM at a time: how far each slice is from each SM.
#pragma once

#include "analysis/structure/index/queue_halves.hpp"
#include "analysis/structure/latency/additive_map.hpp"
#include "analysis/structure/latency/two_sides.hpp"
#include "jobs/chase/pointer_chase.hpp"
#include "jobs/run/replicates.hpp"

#include <cstdint>
#include <vector>

namespace sonde {

/// Whether the queues of a page are made of two slices each.
/// @param queue_of_line from 0 on without gaps, or unknown_slice
/// @param line_bytes a power of two
QueueHalves ask_for_halves(JobRun& run, const Draw& draw,
                           const std::vector<std::uint32_t>& queue_of_line,
                           std::uint64_t line_bytes);

/// Latencies by SM and slice as a sum of both and of the side on which both lie.
struct SliceMap {
  TwoSides sides;
  AdditiveFit fit;  // of the latencies less those of the far side; r2 is that of all three
  std::uint64_t samples = 0;
};

/// Some lines of every slice, by all SMs.
/// @param slice_of_line from 0 to slices - 1, or unknown_slice
SliceMap map_slices(JobRun& run, const Draw& draw, const std::vector<std::uint32_t>& slice_of_line,
                    std::uint32_t slices, std::uint64_t line_bytes);

}  // namespace sonde
