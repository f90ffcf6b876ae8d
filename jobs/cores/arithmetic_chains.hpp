// How the job arithmetic measures: the time of a step of chains on every SM, of many numbers of
// warps and chains and of pairs of operations.
#pragma once

#include "base/arithmetic_ops.hpp"
#include "device/probe.hpp"
#include "jobs/run/job_run.hpp"

#include <string>
#include <vector>

namespace sonde {

/// Chains on each SM.
struct Chains {
  std::string op;
  std::string second = {};
  int warps = 1;
  int ilp = 1;
};

/// Warps that fill an SM, as far as one block can.
int most_warps(const DeviceInfo& info);

/// One chain of the fewest warps that make a step of the operation.
Chains lone_chain(const ArithmeticOp& op);
/// As many as fill an SM: many warps with four chains each, or two groups of warps where a step
/// takes a group.
Chains filling_chains(const DeviceInfo& info, const ArithmeticOp& op);

/// Cycles of a step of all chains, by SM, from two launches of different length.
/// @throws DeviceError if the device refuses them
std::vector<double> measure_steps(JobRun& run, const Chains& chains);

/// Steps of warps per cycle that a step of all chains in so many cycles stands for.
double steps_per_cycle(const Chains& chains, double cycles);

// Parts of the job that go over numbers of warps and chains, and over pairs of operations.

/// `arithmetic.warps`, `.<op>.by_warps_*`, and the schedulers that they show.
void report_warp_sweeps(JobRun& run);

/// `arithmetic.ilp`, `.<op>.by_ilp_cycles`.
void report_ilp_sweeps(JobRun& run);

/// `arithmetic.<op>_with_<op>.*`, and the most that was issued per cycle.
/// @param most_steps_per_cycle of single operations, in steps of warps
void report_pairs(JobRun& run, double most_steps_per_cycle);

}  // namespace sonde
