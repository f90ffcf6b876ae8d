// The L2 as the job `cache.l2` found it, for later jobs.
#pragma once

#include "jobs/run/job_run.hpp"

namespace sonde {

/// Number of L2 partitions. One SM fills only the near one, with copies of far lines, too.
inline int known_l2_parts(const JobRun& run) {
  return run.number("cache.l2.far_hit_latency_cycles") ? 2 : 1;
}

/// Bytes of L2 that one SM can fill: as measured, or as the driver says; 0 if not known.
inline double known_l2_part_bytes(const JobRun& run) {
  const auto segment_bytes = run.number("cache.l2.segment_bytes");
  const auto size_bytes = run.number("cache.l2.size_bytes");
  return segment_bytes.value_or(size_bytes.value_or(static_cast<double>(run.info().l2_bytes)) /
                                known_l2_parts(run));
}

}  // namespace sonde
