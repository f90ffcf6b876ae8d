// Job `arithmetic`: latency and throughput of every operation, alone and together with another one,
// against the number of warps, and the number of schedulers (Wong 2010, section IV-B). Method:
// docs/methods/arithmetic.md.

#include "analysis/statistics.hpp"
#include "analysis/structure/cores/issue.hpp"
#include "base/arithmetic_ops.hpp"
#include "base/gpu_facts.hpp"
#include "device/probe/probe.hpp"
#include "jobs/run/attempt.hpp"
#include "jobs/run/job_run.hpp"
#include "jobs/run/replicates.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace sonde {
namespace {

/// The chains of an operation, or of a pair of operations, that run on each SM.
struct Chains {
  std::string op;
  int warps = 1;
  int ilp = 1;
  std::string second = {};
};

/// Rounds of the shorter and the longer chains. A round has 256 single instructions: the difference
/// of three rounds gives a hundredth of a cycle, and is short enough for long operations.
constexpr std::uint64_t shorter_rounds = 1;
constexpr std::uint64_t longer_rounds = 4;
/// Most warps of a block on all GPUs (CUDA programming guide: 1024 threads); kernels are compiled
/// for it.
constexpr int most_warps_of_block = 32;
/// With four chains a warp fills the slots of its scheduler, so that stairs begin with few warps.
/// Units that all schedulers share cause no stairs, whether there are two or four.
constexpr int stair_ilp = 4;
constexpr const char* stair_ops[] = {"float_fma", "int_add"};
constexpr int pair_ilp = 4;
/// For about 32 steps, each measured on all SMs.
constexpr double scheduler_confidence = 0.97;

/// Most warps of an SM in one block.
int most_warps(const DeviceInfo& info) {
  const int of_block = info.max_threads_per_block / static_cast<int>(warp_threads);
  return std::clamp(of_block, 1, most_warps_of_block);
}

/// Chains that fill an SM: many warps with several chains each, or two groups of warps if an
/// operation needs a group. Options of the job change the number, to whole groups.
Chains filling_chains(const JobRun& run, const ArithmeticOp& op) {
  const bool alone = op.group_warps == 1;
  const int usual = alone ? most_warps(run.info()) : 2 * op.group_warps;
  const int warps = run.choices(options::warps, {usual}).front();
  return {.op = std::string(op.name),
          .warps = std::max(warps / op.group_warps, 1) * op.group_warps,
          .ilp = alone ? run.choices(options::ilp, {op.filling_chains}).front() : 1};
}

/// Cycles of a step of all chains, by SM, from two launches of different lengths.
/// @throws DeviceError if the device refuses the chains, or longer chains take no longer
std::vector<double> measure_steps(JobRun& run, const Chains& chains) {
  const std::uint64_t round = arithmetic_round / static_cast<std::uint64_t>(chains.ilp);
  const auto play = [&](std::uint64_t rounds) {
    const std::uint64_t steps = rounds * round;
    const std::string label = fmt::format("{}{}{}, {} warps, ilp {}, {} steps", chains.op,
                                          chains.second.empty() ? "" : " with ", chains.second,
                                          chains.warps, chains.ilp, steps);
    return run.ask(label, ArithmeticProbe{.op = chains.op,
                                          .second = chains.second,
                                          .warps = chains.warps,
                                          .ilp = chains.ilp,
                                          .steps = steps});
  };
  const Trace shorter = play(shorter_rounds);
  const Trace longer = play(longer_rounds);
  const std::uint64_t further_steps = (longer_rounds - shorter_rounds) * round;
  std::vector<double> cycles = step_cycles(shorter, longer, static_cast<double>(further_steps));
  if (!(std::ranges::min(cycles) > 0)) {
    throw DeviceError("longer chains took no longer than shorter ones");
  }
  return cycles;
}

std::vector<double> sweep_warps(JobRun& run, const std::string& op, int ilp) {
  std::vector<double> cycles;
  for (int warps = 1; warps <= most_warps(run.info()); ++warps) {
    cycles.push_back(median(measure_steps(run, {.op = op, .warps = warps, .ilp = ilp})));
  }
  return cycles;
}

void report_sweep(JobRun& run, const ArithmeticOp& op) {
  const std::string prefix = fmt::format("arithmetic.{}.by_warps_", op.name);
  std::vector<double> cycles;
  const auto sweep = [&] { cycles = sweep_warps(run, std::string(op.name), 1); };
  if (!measure_part(run, {prefix}, sweep)) return;
  std::vector<double> rates;
  for (std::size_t i = 0; i < cycles.size(); ++i) {
    rates.push_back(static_cast<double>(i + 1) * op.per_warp / cycles[i]);
  }
  const std::size_t samples = cycles.size() * static_cast<std::size_t>(run.info().sm_count);
  run.report(prefix + "cycles", std::move(cycles), samples);
  run.report(prefix + "per_cycle", std::move(rates), samples);
}

void report_schedulers(JobRun& run) {
  const std::string metric = "arithmetic.schedulers";
  std::optional<IssueShape> most;
  std::string refusals;
  for (const char* op : stair_ops) {
    const auto refusal = refusal_of([&] {
      const auto shape = infer_issue(sweep_warps(run, op, stair_ilp));
      if (shape && (!most || shape->schedulers > most->schedulers)) most = shape;
    });
    if (refusal) refusals = *refusal;
  }
  if (!most) {
    return run.leave_open(
        metric,
        !refusals.empty()
            ? refusals
            : "the time of a step against the number of warps fits no number of schedulers");
  }
  if (most->schedulers == 1) {
    return run.leave_open(
        metric,
        "warps issue one by one: either there is one scheduler, or all schedulers share one unit");
  }
  run.report(
      found(metric, static_cast<double>(most->schedulers), scheduler_confidence,
            std::size(stair_ops) * static_cast<std::size_t>(most_warps(run.info()))),
      fmt::format("a step takes {:.2f} cycles, then {:.2f} cycles for each warp of a scheduler",
                  most->latency_cycles, most->interval_cycles));
}

/// Reports `arithmetic.warps`, `.<op>.by_warps_*`, and the schedulers.
void report_warp_sweeps(JobRun& run) {
  std::vector<double> warps;
  for (int count = 1; count <= most_warps(run.info()); ++count) warps.push_back(count);
  run.report("arithmetic.warps", warps, warps.size());
  for (std::string_view name : arithmetic_warp_sweeps) report_sweep(run, *find_arithmetic_op(name));
  report_schedulers(run);
}

/// Reports `arithmetic.ilp` and `.<op>.by_ilp_cycles`.
void report_ilp_sweeps(JobRun& run) {
  run.report("arithmetic.ilp", std::vector<double>{1, 2, 4, 8}, 4);
  for (std::string_view name : arithmetic_ilp_sweeps) {
    const std::string metric = fmt::format("arithmetic.{}.by_ilp_cycles", name);
    std::vector<double> cycles;
    measure_part(run, {metric}, [&] {
      for (int ilp : {1, 2, 4, 8}) {
        cycles.push_back(median(measure_steps(run, {.op = std::string(name), .ilp = ilp})));
      }
      run.report(metric, std::move(cycles), 4 * static_cast<std::size_t>(run.info().sm_count));
    });
  }
}

/// Reports `arithmetic.<op>_with_<op>.*` and the highest issue rate.
/// @param most_steps_per_cycle highest rate of single operations, in steps of warps
void report_pairs(JobRun& run, double most_steps_per_cycle) {
  double most = most_steps_per_cycle;
  const int warps = most_warps(run.info());
  const auto time = [&](std::string_view op, std::string_view second) {
    return median(measure_steps(
        run,
        {.op = std::string(op), .warps = warps, .ilp = pair_ilp, .second = std::string(second)}));
  };
  for (const ArithmeticPair& pair : arithmetic_pairs) {
    const std::string prefix = fmt::format("arithmetic.{}.", pair.name);
    measure_part(run, {prefix}, [&] {
      const double first = time(pair.first, "");
      const double second = time(pair.second, "");
      const double both = time(pair.first, pair.second);
      const double rate = 2.0 * warps * pair_ilp / both;
      most = std::max(most, rate);
      // Of the faster operation: 1 if both units work at the same time, 0 if one waits for the
      // other.
      const double overlap = (first + second - both) / std::min(first, second);
      run.report(prefix + "overlap", overlap, run.info().sm_count);
      run.report(prefix + "issue_per_cycle_per_sm", rate, run.info().sm_count);
    });
  }
  if (!(most > 0)) {
    return run.leave_open("arithmetic.issue_per_", "no operation could be measured");
  }
  run.report("arithmetic.issue_per_cycle_per_sm", most, arithmetic_pairs.size());
  const auto schedulers = run.number("arithmetic.schedulers");
  if (!schedulers) {
    return run.leave_open("arithmetic.issue_per_cycle_per_scheduler",
                          "the number of schedulers is not known");
  }
  run.report("arithmetic.issue_per_cycle_per_scheduler", most / *schedulers,
             arithmetic_pairs.size(), run.finding("arithmetic.schedulers")->confidence);
}

/// Every launch measures all SMs, and cycles of arithmetic hardly vary.
constexpr StoppingRule launch_rule{.least = 3, .most = 6};

/// Cycles of a step by launch and SM.
Replicates measure_times(JobRun& run, const Chains& chains) {
  return measure_replicates(
      run, fmt::format("{} of {} warps", chains.op, chains.warps),
      [&](const Draw&) { return measure_steps(run, chains); }, launch_rule);
}

/// Mean over launches for each SM.
std::vector<double> mean_by_sm(const std::vector<std::vector<double>>& times) {
  std::vector<double> means(times.front().size());
  for (const std::vector<double>& cycles : times) {
    for (std::size_t sm = 0; sm < means.size(); ++sm) means[sm] += cycles[sm];
  }
  for (double& mean : means) mean /= static_cast<double>(times.size());
  return means;
}

/// @return steps of warps per cycle; 0 if the device refused the operation
double report_op(JobRun& run, const ArithmeticOp& op) {
  const std::string prefix = fmt::format("arithmetic.{}.", op.name);
  const Chains lone{.op = std::string(op.name), .warps = op.group_warps};
  const Chains filling = filling_chains(run, op);
  double rate = 0;
  const auto measure = [&] {
    const Replicates latencies = measure_times(run, lone);
    Replicates rates = measure_times(run, filling);
    const std::string code = run.device().machine_code(lone.op);
    for (std::vector<double>& of_launch : rates.samples) {
      for (double& value : of_launch) value = op.per_warp * (filling.warps * filling.ilp / value);
    }
    run.report(found_pooled(prefix + "latency_cycles", latencies), code);
    run.report(found_pooled(prefix + "throughput_per_cycle_per_sm", rates), code);
    if (std::ranges::find(arithmetic_sm_maps, op.name) != arithmetic_sm_maps.end()) {
      run.report(prefix + "by_sm_cycles", mean_by_sm(latencies.samples), latencies.pooled().size());
    }
    rate = run.number(prefix + "throughput_per_cycle_per_sm").value_or(0) / op.per_warp;
  };
  measure_part(
      run,
      {prefix + "latency_cycles", prefix + "throughput_per_cycle_per_sm", prefix + "by_sm_cycles"},
      measure);
  return rate;
}

}  // namespace

void run_arithmetic(JobRun& run) {
  double most_steps_per_cycle = 0;
  for (const ArithmeticOp& op : arithmetic_ops) {
    most_steps_per_cycle = std::max(most_steps_per_cycle, report_op(run, op));
  }
  if (run.has_settings()) {
    return run.report_rest("", Status::skipped,
                           "not measured with a single number of warps or a single ilp");
  }
  report_warp_sweeps(run);
  report_ilp_sweeps(run);
  report_pairs(run, most_steps_per_cycle);
}

}  // namespace sonde
