// What the job `bypass` says of one program.
#pragma once

#include "jobs/bypass/sweep.hpp"

#include <optional>
#include <string>
#include <vector>

namespace sonde {

/// Performances count as equal within this fraction: replicates differ by about as much.
inline constexpr double equal_fraction = 0.01;

/// A measured program and what it was made of.
struct Measured {
  PaperProgram program;
  ProgramSweep result;
  std::vector<int> large_l1_cached = {};  // numbers that were measured with the largest L1
  std::vector<double> large_l1_speedups = {};
};

/// How the metrics of a program begin.
std::string prefix_of(const PaperProgram& program);

/// @param large where the L1 can be larger than that of `small`
/// @throws as sweep_program
Measured measure_program(JobRun& run, const PaperProgram& program, const SweepSetup& small,
                         const std::optional<SweepSetup>& large);

/// All but what the model makes of it.
void report_measured(JobRun& run, const Measured& measured);

/// What to do, in words: how many of `units` should bypass, and what it gains.
std::string describe_choice(const Measured& measured, int cached, double speedup);

}  // namespace sonde
