// Larger parts of the jobs `shared`, `placement`, `clock` and `l2.throughput`, each in the file
// that its comment names.
#pragma once

#include "analysis/structure/cores/shared_banks.hpp"
#include "jobs/run/job_run.hpp"

#include <optional>
#include <span>
#include <vector>

namespace sonde {

/// Reports copy throughput of an SM over block size x blocks per SM x ILP, the best shape, and the
/// best with 8-byte words (Mei and Chu 2016, section 6.1) (shared_copy.cpp).
void report_shared_copies(JobRun& run);

/// Bytes per cycle that an SM gets if all of its warps only load, without conflicts
/// (shared_copy.cpp).
double shared_load_rate(JobRun& run);

/// Reports shared.cached and shared.footprint_*: whether latency depends on the footprint
/// (shared_footprints.cpp). @param overhead_cycles of the window of a chase
void report_shared_footprints(JobRun& run, const std::vector<int>& sms, double overhead_cycles);

/// Reports `l2.near_` and `l2.far_` rates: `bytes_per_s` of reads (also `l2.both_`),
/// `write_bytes_per_s` and `atomics_per_s` (near_far_streams.cpp).
/// @param streams at least one of: reads and writes past the L1, and additions; all over one
/// footprint that the L2 keeps
void report_near_far(JobRun& run, std::span<const StreamProbe> streams);

/// Reports shared.atomic_*; those by bank only if the banks are known (shared_atomics.cpp).
void report_shared_atomics(JobRun& run, const std::optional<SharedBanks>& banks);

/// Reports placement.*_bytes_per_cycle, and placement.slowest_{sm,tpc,gpc} from these and from the
/// latency maps that were reported (slow_units.cpp).
void report_slow_units(JobRun& run);

/// Reports clock.launch_*: duration and order of launches (launches.cpp).
void report_launches(JobRun& run);

/// Reports clock.load_*, .settle_ms, .jitter_fraction and .sound. Call it first, as long as the GPU
/// may be cold (pace.cpp).
void report_pace(JobRun& run);

}  // namespace sonde
