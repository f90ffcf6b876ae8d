// Streams over an L2 in two partitions by where the lines are at home: a part of the job
// l2.throughput.
#pragma once

#include "jobs/cores/stream_surface.hpp"

#include <span>

namespace sonde {

/// Reports `l2.near_` and `l2.far_` for each stream: `bytes_per_s` of reads (`l2.both_`, too),
/// `write_bytes_per_s` and `atomics_per_s`.
/// @param streams of reads and writes past the L1 and of additions, all over one footprint that the
/// L2 keeps; at least one
void report_near_far(JobRun& run, std::span<const StreamProbe> streams);

}  // namespace sonde
