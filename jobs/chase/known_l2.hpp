// The L2 as the job `cache.l2` found it, for the jobs behind it.
#pragma once

#include "jobs/run/job_run.hpp"

namespace sonde {

/// Partitions that keep copies of each other's lines: one SM fills the near one alone.
inline int known_l2_parts(const JobRun& run) {
  return run.number("cache.l2.far_hit_latency_cycles") ? 2 : 1;
}

/// What one SM can keep there: as it was found, else as the driver says. 0 if neither is known.
inline double known_l2_part_bytes(const JobRun& run) {
  const auto segment_bytes = run.number("cache.l2.segment_bytes");
  const auto size_bytes = run.number("cache.l2.size_bytes");
  return segment_bytes.value_or(size_bytes.value_or(static_cast<double>(run.info().l2_bytes)) /
                                known_l2_parts(run));
}

}  // namespace sonde
