// Job `arithmetic`: latency and throughput of every operation, alone and side by side with another
// one, against the number of warps, and what issues them (Wong 2010, section IV-B).
// Method: docs/methods/arithmetic.md.
#include "analysis/statistics.hpp"
#include "base/arithmetic_ops.hpp"
#include "jobs/cores/arithmetic_chains.hpp"
#include "jobs/run/attempt.hpp"
#include "jobs/run/replicates.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <string>
#include <utility>

namespace sonde {
namespace {

/// Every launch measures all SMs, and cycles of arithmetic hardly vary.
constexpr StoppingRule launch_rule{.least = 3, .most = 6};

/// Cycles of a step by SM, replicate after replicate. SMs without a time are left out.
using SmTimes = std::vector<std::vector<double>>;

SmTimes measure_times(JobRun& run, const Chains& chains) {
  const std::string what = fmt::format("{} of {} warps", chains.op, chains.warps);
  SmTimes by_sm;
  measure_replicates(
      run, what,
      [&](const Draw&) {
        std::vector<double> cycles = by_sm.emplace_back(measure_steps(run, chains));
        std::erase_if(cycles, [](double value) { return std::isnan(value); });
        return cycles;
      },
      launch_rule);
  return by_sm;
}

/// The median SM of what `value` makes of the times, with the deviation between launches.
template <class Value>
void report_median(JobRun& run, const std::string& metric, const SmTimes& times,
                   const std::string& code, const Value& value) {
  Replicates replicates;
  for (const std::vector<double>& cycles : times) {
    std::vector<double> values;
    for (double one : cycles) {
      if (!std::isnan(one)) values.push_back(value(one));
    }
    if (!values.empty()) replicates.samples.push_back(std::move(values));
  }
  if (replicates.samples.empty()) {
    return run.report(not_resolvable(metric, "longer chains took no longer than shorter ones"));
  }
  run.report(found_pooled(metric, replicates), code);
}

/// Mean over launches for each SM; NaN where none had a time.
std::vector<double> mean_by_sm(const SmTimes& times) {
  std::vector<double> means;
  for (std::size_t sm = 0; sm < times.front().size(); ++sm) {
    double sum = 0;
    int count = 0;
    for (const std::vector<double>& cycles : times) {
      if (std::isnan(cycles[sm])) continue;
      sum += cycles[sm];
      ++count;
    }
    means.push_back(sum / count);
  }
  return means;
}

/// @return steps of warps per cycle; 0: the device refused the operation
double report_op(JobRun& run, const ArithmeticOp& op) {
  const std::string prefix = fmt::format("arithmetic.{}.", op.name);
  const Chains lone = lone_chain(op);
  const Chains filling = filling_chains(run.info(), op);
  double rate = 0;
  const auto measure = [&] {
    const SmTimes latencies = measure_times(run, lone);
    const SmTimes filled = measure_times(run, filling);
    const std::string code = run.device().machine_code(lone.op);
    report_median(run, prefix + "latency_cycles", latencies, code,
                  [](double cycles) { return cycles; });
    report_median(run, prefix + "throughput_per_cycle_per_sm", filled, code,
                  [&](double cycles) { return op.per_warp * steps_per_cycle(filling, cycles); });
    if (std::ranges::find(arithmetic_sm_maps, op.name) != arithmetic_sm_maps.end()) {
      run.report(found(prefix + "by_sm_cycles", mean_by_sm(latencies), 1,
                       latencies.size() * latencies.front().size()));
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
  report_warp_sweeps(run);
  report_ilp_sweeps(run);
  report_pairs(run, most_steps_per_cycle);
}

}  // namespace sonde
