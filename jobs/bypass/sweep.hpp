// One program on the device with different numbers of its warps, or blocks, using the L1.
#pragma once

#include "analysis/bypass_model.hpp"
#include "jobs/bypass/programs.hpp"
#include "jobs/bypass/shadow_tags.hpp"
#include "jobs/run/job_run.hpp"

#include <limits>
#include <optional>
#include <vector>

namespace sonde {

/// What is the same for every program of a run of the job.
struct SweepSetup {
  std::uint64_t l1_bytes = 0;  // the smallest that earlier jobs found
  TagGeometry l1;              // with the shared part below
  /// Unset: shared memory and L1 are apart.
  std::optional<std::uint64_t> shared_carveout_bytes = {};
  /// Of the largest L1; unset: it has one size.
  std::uint64_t large_l1_bytes = 0;
  std::optional<std::uint64_t> large_l1_carveout_bytes = {};
  double threshold_cycles = 0;  // windows below are hits
  double hit_gain_cycles = 0;
  std::uint64_t sm_accesses = 0;
  std::size_t replicates = 1;  // each at another place in memory
  bool all_windows = false;    // of every program with every number, else of the taught ones
};

/// What the suite and the sizes of the L1 that earlier jobs found allow; nothing is calibrated yet.
SweepSetup make_setup(const JobRun& run, double size_bytes);

/// Sets what separates hits from misses, by a warp that loads the same lines again and again.
/// @return false if it is no faster through the L1 than past it
bool calibrate(JobRun& run, SweepSetup& setup);

/// Reports by path how many loads find in the L1 what they loaded before; NaN: the device has no
/// such loads.
void report_paths(JobRun& run, const SweepSetup& setup);

/// At most nine numbers from 0 to `units`, evenly spread: as many as the paper's calculators tell.
std::vector<int> cached_numbers(int units);

/// What was measured of a program. Speed-ups are performance over that with all units cached; NaN:
/// the device refuses it.
struct ProgramSweep {
  static constexpr double unknown = std::numeric_limits<double>::quiet_NaN();

  PaperProgram program;
  BypassSweep sweep = {};
  /// [number] window of a load through the L1 / that of a warp alone; NaN: not timed.
  std::vector<double> congestion = {};
  double timed_loads = 0;                // of an SM, all units cached
  double no_allocate_speedup = unknown;  // nobody uses the L1, by hints
  double evict_first_speedup = unknown;
  double throttled_speedup = 1;       // the best of fewer warps at a time, all cached
  double large_l1_speedup = unknown;  // with the largest L1: the best of none, half and all cached

  double speedup_at(std::size_t number) const {
    return sweep.performance[number] / sweep.performance.back();
  }
};

/// @throws DeviceError if the device refuses the program, DeviceLostError
ProgramSweep sweep_program(JobRun& run, const PaperProgram& program, const SweepSetup& setup);

}  // namespace sonde
