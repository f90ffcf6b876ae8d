// Two lengths of the same chains, and what lies between them.
#include "jobs/cores/arithmetic_rates.hpp"

#include "analysis/structure/cores/issue.hpp"
#include "base/gpu_facts.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace sonde {
namespace {

/// Rounds of the shorter and the longer chains. A round of single instructions is 256 of them: the
/// three rounds between are enough for a hundredth of a cycle, and short enough for sequences.
constexpr std::uint64_t shorter_rounds = 1;
constexpr std::uint64_t longer_rounds = 4;
/// Warps of a block that a kernel is compiled for, on all GPUs (CUDA programming guide: 1024
/// threads).
constexpr int most_warps_of_block = 32;

Trace run_chains(JobRun& run, const Chains& chains, std::uint64_t steps) {
  const std::string label = fmt::format("{}{}{}, {} warps, ilp {}, {} steps", chains.op,
                                        chains.second.empty() ? "" : " with ", chains.second,
                                        chains.warps, chains.ilp, steps);
  return run.ask(label, ArithmeticProbe{.op = chains.op,
                                        .second = chains.second,
                                        .warps = chains.warps,
                                        .ilp = chains.ilp,
                                        .steps = steps});
}

}  // namespace

int most_warps(const DeviceInfo& info) {
  const int of_block = info.max_threads_per_block / static_cast<int>(warp_threads);
  return std::clamp(of_block, 1, most_warps_of_block);
}

Chains lone_chain(const ArithmeticOp& op) {
  return {.op = std::string(op.name), .second = {}, .warps = op.group_warps, .ilp = 1};
}

Chains filling_chains(const DeviceInfo& info, const ArithmeticOp& op) {
  const bool alone = op.group_warps == 1;
  return {.op = std::string(op.name),
          .second = {},
          .warps = alone ? most_warps(info) : 2 * op.group_warps,
          .ilp = alone ? op.filling_chains : 1};
}

std::vector<double> measure_steps(JobRun& run, const Chains& chains) {
  const std::uint64_t round = arithmetic_round / static_cast<std::uint64_t>(chains.ilp);
  const std::uint64_t shorter_steps = shorter_rounds * round;
  const std::uint64_t longer_steps = longer_rounds * round;
  const Trace shorter = run_chains(run, chains, shorter_steps);
  const Trace longer = run_chains(run, chains, longer_steps);
  return step_cycles(shorter, longer, static_cast<double>(shorter_steps),
                     static_cast<double>(longer_steps));
}

double steps_per_cycle(const Chains& chains, double cycles) {
  return chains.warps * chains.ilp * (chains.second.empty() ? 1 : 2) / cycles;
}

}  // namespace sonde
