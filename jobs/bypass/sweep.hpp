// One program on the device with different numbers of its warps, or blocks, using the L1.
#pragma once

#include "analysis/bypass_model.hpp"
#include "jobs/bypass/paper_program.hpp"
#include "jobs/bypass/shadow_tags.hpp"
#include "jobs/run/job_run.hpp"

#include <optional>
#include <string>
#include <vector>

namespace sonde {

/// What is the same for every program of a run of the job.
struct SweepSetup {
  TagGeometry l1;                                      // with the shared part below
  std::optional<std::uint64_t> shared_carveout_bytes;  // unset: shared memory and L1 are apart
  double threshold_cycles = 0;                         // windows below are hits
  double hit_gain_cycles = 0;
  std::uint64_t sm_accesses = 0;
  std::size_t replicates = 1;  // each at another place in memory
  bool all_windows = false;    // of every program with every number, else of the taught ones
};

/// The probe of a program with as many of its blocks as fit, every unit through the L1.
ProgramProbe make_probe(const PaperProgram& program, const DeviceInfo& info,
                        const SweepSetup& setup);

/// At most nine numbers from 0 to `units`, evenly spread: as many as the paper's calculators tell.
std::vector<int> cached_numbers(int units);

/// What was measured of a program.
struct ProgramSweep {
  BypassSweep sweep;
  std::vector<double> cycles;        // [number] of the longest warp
  std::vector<LoadWindows> windows;  // [number], empty unless all were asked for
  LoadWindows all_cached;            // windows with every unit cached
  LoadWindows alone;                 // of a warp alone, through the L1
  /// Performance over that of all cached in the same replicate: [replicate].
  std::vector<double> best_speedups;
  std::vector<double> bypass_speedups;       // nobody uses the L1
  std::vector<double> no_allocate_speedups;  // nobody, by hints; empty: refused
  std::vector<double> evict_first_speedups;
  std::vector<double> throttled_speedups;  // fewer warps, all cached; the best number of warps
  int throttled_warps = 0;                 // that best number
  int warps = 0;                           // of an SM without throttling

  double speedup_at(std::size_t number) const {
    return sweep.performance[number] / sweep.performance.back();
  }
};

/// @throws DeviceError if the device refuses the program, DeviceLostError
ProgramSweep sweep_program(JobRun& run, const PaperProgram& program, const SweepSetup& setup);

/// Performance with each of `cached` and with all over that with all: medians of the replicates.
/// For another L1 than that of the sweep. @return [number], 1 for all cached
std::vector<double> measure_speedups(JobRun& run, const PaperProgram& program,
                                     const SweepSetup& setup, const std::vector<int>& cached);

}  // namespace sonde
