// Latencies of L2 hits by SM and line, one SM at a time: how far each slice is from each SM.
#pragma once

#include "analysis/structure/index/slice_labels.hpp"
#include "analysis/structure/latency/additive_map.hpp"
#include "analysis/structure/latency/two_sides.hpp"
#include "jobs/chase/pointer_chase.hpp"
#include "jobs/run/replicates.hpp"

#include <cstdint>

namespace sonde {

/// Latencies by SM and slice as a sum of both, and of the way to the other side of the chip where
/// SM and slice lie on different ones.
struct SliceMap {
  TwoSides sides;
  AdditiveFit fit;  // of the latencies less those of the far side; r2 is that of all three
  std::uint64_t samples = 0;
};

/// Some lines of every slice, by all SMs: as many that are odd under the mask as even ones, since
/// in a divided L2 one half may be copies of lines of the other partition, which take longer.
/// @param mask of the offset in bytes; 0: any lines
SliceMap map_slices(JobRun& run, const Draw& draw, const SliceLabels& labels,
                    std::uint64_t line_bytes, std::uint64_t mask);

}  // namespace sonde
