// Job `registers`: how many blocks of each shape an SM holds at once, and the rule behind it:
// registers, their allocation unit, the quantum of threads, the slots (Wong 2010, section IV-E).
// Method: docs/methods/registers.md.
#include "analysis/structure/cores/occupancy_rule.hpp"
#include "jobs/run/attempt.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <map>
#include <string>
#include <utility>

namespace sonde {
namespace {

/// Every number of registers up to this is tried, as small units show there; some larger ones.
constexpr int dense_registers = 64;
constexpr std::size_t further_counts = 24;
/// Threads of the blocks for which numbers of registers are compared: many small steps, and few
/// large ones that no limit of blocks affects.
constexpr int small_block_threads = 64;
constexpr int large_block_threads = 256;
/// Step of the threads of a block, below all known quanta except the smallest.
constexpr int thread_step = 16;
/// Numbers of registers for which threads are compared; with 64, a block may have any size.
constexpr std::array swept_registers{32, 48, 64};
/// Largest known allocation unit of shared memory (CUDA occupancy calculator: 128 bytes).
constexpr std::uint64_t shared_step_bytes = 128;

/// All observations of the job.
struct Observed {
  std::vector<HeldBlocks> held = {};
  double agreement = 1;  // least share of the SMs that held as many blocks as most
};

/// The number of blocks that most SMs held.
int hold(JobRun& run, Observed& observed, const OccupancyProbe& probe) {
  const Trace trace =
      run.ask(probe.shared_bytes > 0 ? fmt::format("{} bytes of shared memory", probe.shared_bytes)
                                     : fmt::format("{} registers, {} threads",
                                                   probe.registers_per_thread, probe.block_threads),
              probe);
  std::map<std::uint64_t, std::size_t> sms_by_blocks;
  for (const LaneTrace& lane : trace.lanes) ++sms_by_blocks[lane.accesses];
  const auto most =
      std::ranges::max_element(sms_by_blocks, {}, [](const auto& entry) { return entry.second; });
  const int blocks = static_cast<int>(most->first);
  observed.held.push_back({probe.registers_per_thread, probe.block_threads, blocks});
  observed.agreement = std::min(observed.agreement, static_cast<double>(most->second) /
                                                        static_cast<double>(trace.lanes.size()));
  return blocks;
}

/// The possible numbers of registers, by bisection for the largest.
std::vector<int> possible_counts(JobRun& run, std::vector<int> counts) {
  Observed ignored;
  const auto end = std::ranges::partition_point(counts, [&](int registers) {
    return hold(run, ignored, {registers, run.info().warp_threads}) > 0;
  });
  counts.erase(end, counts.end());
  return counts;
}

/// All small numbers of registers, some larger ones, and the largest.
std::vector<int> choose_counts(const std::vector<int>& all) {
  const auto first_large = std::ranges::upper_bound(all, dense_registers);
  std::vector<int> chosen(all.begin(), first_large);
  const std::vector<int> large(first_large, all.end());
  const std::size_t taken = std::min(large.size(), further_counts);
  for (std::size_t i = 1; i <= taken; ++i) chosen.push_back(large[i * large.size() / taken - 1]);
  return chosen;
}

/// Observes blocks by registers, for both sizes of blocks.
void observe_registers(JobRun& run, Observed& observed, const std::vector<int>& counts) {
  std::vector<double> axis, warps;
  for (int registers : counts) {
    hold(run, observed, {registers, small_block_threads});
    const int blocks = hold(run, observed, {registers, large_block_threads});
    axis.push_back(registers);
    const int resident_warps = blocks * large_block_threads / run.info().warp_threads;
    warps.push_back(resident_warps);
  }
  const double most = *std::ranges::max_element(warps);
  double full = 0;
  for (std::size_t i = 0; i < axis.size(); ++i) {
    if (warps[i] == most) full = std::max(full, axis[i]);
  }
  const std::size_t samples = axis.size();
  run.report("registers.per_thread", std::move(axis), samples);
  run.report("registers.resident_warps", std::move(warps), samples);
  run.report("registers.full_up_to", full, samples, observed.agreement);
}

/// Observes blocks by threads, for the largest counts up to swept_registers.
void observe_threads(JobRun& run, Observed& observed, const std::vector<int>& counts) {
  std::vector<double> axis, blocks;
  int last = 0;
  for (int wanted : swept_registers) {
    const auto above = std::ranges::upper_bound(counts, wanted);
    const int registers = above == counts.begin() ? counts.front() : *(above - 1);
    if (registers == last) continue;
    last = registers;
    axis.clear();
    blocks.clear();
    const int most = std::min(run.info().max_threads_per_block, most_occupancy_threads(registers));
    for (int threads = thread_step; threads <= most; threads += thread_step) {
      axis.push_back(threads);
      blocks.push_back(hold(run, observed, {registers, threads}));
    }
  }
  const std::size_t samples = axis.size();
  const std::string remark = fmt::format("{} registers per thread", last);
  run.report(found("registers.block_threads", std::move(axis), 1, samples), remark);
  run.report(found("registers.resident_blocks", std::move(blocks), 1, samples), remark);
}

void report_property(JobRun& run, const std::string& metric, const std::optional<int>& value,
                     const Observed& observed, const FoundRule& rule) {
  if (value) {
    return run.report(metric, *value, observed.held.size(), observed.agreement);
  }
  run.leave_open(
      metric,
      rule.rules == 0
          ? "no number of registers, with any allocation unit and thread quantum, explains how "
            "many blocks an SM held"
          : fmt::format("{} rules with different values of it explain how many blocks an SM held",
                        rule.rules));
}

void report_rule(JobRun& run, const Observed& observed) {
  const FoundRule rule = find_occupancy_rule(observed.held);
  report_property(run, "registers.per_sm", rule.registers_per_sm, observed, rule);
  report_property(run, "registers.allocation_unit", rule.register_unit, observed, rule);
  report_property(run, "registers.thread_quantum", rule.thread_quantum, observed, rule);
  const auto samples = observed.held.size();
  run.report("registers.max_blocks_per_sm", most_blocks(observed.held), samples,
             observed.agreement);
  const int warps = most_threads(observed.held) / run.info().warp_threads;
  run.report("registers.max_warps_per_sm", warps, samples, observed.agreement);
}

/// Finds the most shared memory with which an SM still holds two blocks, by bisection.
void report_shared(JobRun& run, int registers) {
  Observed ignored;
  std::uint64_t two = 0;  // in steps
  std::uint64_t one = run.info().shared_bytes_per_block / shared_step_bytes + 1;
  std::uint64_t samples = 0;
  while (one - two > 1) {
    const std::uint64_t middle = (one + two) / 2;
    const int blocks =
        hold(run, ignored, {registers, small_block_threads, middle * shared_step_bytes});
    (blocks >= 2 ? two : one) = middle;
    ++samples;
  }
  run.report("registers.two_blocks_shared_bytes", two * shared_step_bytes, samples);
}

}  // namespace

void run_registers(JobRun& run) {
  const std::vector<int> known = run.device().register_counts();
  if (known.empty()) {
    return run.leave_open("", "there are no kernels with a chosen number of registers");
  }
  measure_part(run, {""}, [&] {
    const std::vector<int> possible = possible_counts(run, known);
    if (possible.empty()) {
      return run.leave_open("", "no block fits on an SM");
    }
    run.report(found("registers.max_per_thread", static_cast<double>(possible.back()), 1, 1),
               possible == known ? "no kernel has more registers" : "");
    const std::vector<int> counts = choose_counts(possible);
    Observed observed;
    observe_registers(run, observed, counts);
    observe_threads(run, observed, counts);
    report_rule(run, observed);
    report_shared(run, counts.front());
  });
}

}  // namespace sonde
