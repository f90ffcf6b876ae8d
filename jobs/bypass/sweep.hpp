// Runs a program on the device with different numbers of its warps or blocks using the L1.
#pragma once

#include "analysis/bypass_model.hpp"
#include "jobs/bypass/programs.hpp"
#include "jobs/bypass/shadow_tags.hpp"
#include "jobs/run/job_run.hpp"

#include <limits>
#include <optional>
#include <vector>

namespace sonde {

/// Settings that all programs of the job use.
struct SweepSetup {
  std::uint64_t l1_bytes = 0;  // the smallest L1 that earlier jobs found
  TagGeometry l1;              // with the carve-out below
  /// Unset if shared memory and L1 are separate.
  std::optional<std::uint64_t> shared_carveout_bytes = {};
  /// The largest L1; its carve-out is unset if the L1 has one size.
  std::uint64_t large_l1_bytes = 0;
  std::optional<std::uint64_t> large_l1_carveout_bytes = {};
  double threshold_cycles = 0;  // shorter windows are hits
  double hit_gain_cycles = 0;
  std::uint64_t sm_accesses = 0;
  std::size_t replicates = 1;  // each at another place in memory
  bool all_windows = false;    // also time programs that do not teach, at every number of units
};

/// The setup for the suite and for the L1 sizes that earlier jobs found, not yet calibrated.
SweepSetup make_setup(const JobRun& run, double size_bytes);

/// Sets the threshold between hits and misses, from a warp that loads the same lines repeatedly.
/// @return false if the L1 is not faster than the path past it
bool calibrate(JobRun& run, SweepSetup& setup);

/// Reports for each path the share of repeated loads that hit the L1; NaN if the device has no such
/// loads.
void report_paths(JobRun& run, const SweepSetup& setup);

/// At most nine numbers from 0 to `units`, evenly spread: the paper has 8 calculators.
std::vector<int> cached_numbers(int units);

/// Measurements of a program. Speed-ups are relative to the performance with all units cached; NaN
/// if the device refuses the probe.
struct ProgramSweep {
  static constexpr double unknown = std::numeric_limits<double>::quiet_NaN();

  PaperProgram program;
  BypassSweep sweep = {};
  /// [number] window of a load through the L1, relative to that of a single warp; NaN: not timed.
  std::vector<double> congestion = {};
  double timed_loads = 0;                // of an SM, with all units cached
  double no_allocate_speedup = unknown;  // no load allocates in the L1
  double evict_first_speedup = unknown;
  double throttled_speedup = 1;       // the best with fewer warps at a time, all cached
  double large_l1_speedup = unknown;  // with the largest L1: the best of none, half and all cached

  double speedup_at(std::size_t number) const {
    return sweep.performance[number] / sweep.performance.back();
  }
};

/// @throws DeviceError if the device refuses the program, DeviceLostError
ProgramSweep sweep_program(JobRun& run, const PaperProgram& program, const SweepSetup& setup);

}  // namespace sonde
