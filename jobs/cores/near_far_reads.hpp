// Reads of an L2 in two partitions by where the lines are at home: a part of the job l2.throughput.
#pragma once

#include "jobs/cores/stream_surface.hpp"

namespace sonde {

/// Reports `l2.near_bytes_per_s`, `l2.far_bytes_per_s` and `l2.both_bytes_per_s`.
/// @param reads past the L1, of as many bytes as the L2 keeps
void report_near_far_reads(JobRun& run, const StreamProbe& reads, const Shape& shape);

}  // namespace sonde
