// Job `clock`: overhead, step and scope of the clock, whether its rate is steady while the GPU
// works, and how launches follow each other. It runs before all other measurements, which subtract
// its window.
#include "analysis/structure/cores/clock.hpp"
#include "jobs/chase/access_order.hpp"
#include "jobs/cores/parts.hpp"
#include "jobs/run/clock_window.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <string>

namespace sonde {
namespace {

constexpr std::uint64_t window_samples = 256;  // per SM
/// Steps of the device-wide timer to see on each SM. The offsets of two SMs can then be compared to
/// a small part of the distance between two readings.
constexpr std::uint64_t wanted_timer_steps = 64;
constexpr std::uint64_t fewest_timestamps = 512;
constexpr std::uint64_t most_timestamps = 16384;
constexpr int rate_sms = 4;  // all SMs of a GPU have the same rate
constexpr std::uint64_t cold_loads = 256;
constexpr std::uint64_t cold_step_bytes = 8192;  // pages, rows and slices: latencies that differ

/// Enough readings for `wanted_timer_steps` steps, estimated from a long row of readings.
std::uint64_t choose_timestamps(const LaneTrace& row) {
  const std::uint64_t readings = row.globaltimer_ns.size();
  const std::uint64_t steps = std::max<std::uint64_t>(1, counter_moves(row.globaltimer_ns).size());
  return std::clamp(readings * wanted_timer_steps / steps, std::min(fewest_timestamps, readings),
                    readings);
}

/// Reports the common step of different durations: windows, loops of readings, and cold loads.
void report_granularity(JobRun& run, const LaneTrace& empty, const LaneTrace& sink,
                        const LaneTrace& stamps) {
  ChaseProbe cold;
  cold.buffer_bytes = cold_loads * cold_step_bytes;
  cold.lanes.push_back({.sm = empty.sm,
                        .offsets_bytes = ascending_order(cold.buffer_bytes, cold_step_bytes),
                        .path = LoadPath::past_l1});
  cold.timed_accesses = cold.recorded_accesses = cold_loads;
  const auto windows_of = [](const LaneTrace& lane) {
    return std::vector<std::uint64_t>(lane.window_cycles.begin(), lane.window_cycles.end());
  };
  const std::vector kinds{windows_of(empty), windows_of(sink), counter_moves(stamps.clock_cycles),
                          windows_of(run.run("cold loads", cold).lanes.at(0))};
  std::uint64_t samples = 0;
  for (const auto& kind : kinds) samples += kind.size();
  const double step = common_step(kinds);
  run.report(step > 0
                 ? found("clock.granularity_cycles", step, step_confidence(kinds, step), samples)
                 : not_resolvable("clock.granularity_cycles", "the clock never moved"));
}

void report_scope(JobRun& run, const std::vector<ClockLine>& lines) {
  const int sm_count = run.info().sm_count;
  const std::vector<int> groups = group_clocks(lines, sm_count);
  std::vector<double> offsets(static_cast<std::size_t>(sm_count), NAN);
  for (const ClockLine& line : lines) {
    offsets[static_cast<std::size_t>(line.sm)] = line.offset_cycles - lines.front().offset_cycles;
  }
  const double complete = static_cast<double>(lines.size()) / sm_count;
  const std::string scope(name_clock_scope(groups, run.info().compute_major));
  constexpr double confidence_by_size = 0.9;
  const bool by_size = scope == "tpc";
  if (scope.empty()) {
    run.leave_open("clock.scope",
                   "groups of three SMs share a clock: a TPC, or a GPC with so few SMs");
  } else {
    run.report(
        found("clock.scope", scope, by_size ? std::min(complete, confidence_by_size) : complete,
              lines.size()),
        by_size ? "groups have the size of a TPC: a GPC with so few SMs would look the same" : "");
  }
  run.report("clock.group_of_sm", groups, lines.size(), complete);
  run.report("clock.offset_cycles", std::move(offsets), lines.size(), complete);
}

/// Reports the step of the device-wide timer. @param lines of these rows
void report_timer_step(JobRun& run, const std::vector<LaneTrace>& rows,
                       const std::vector<ClockLine>& lines) {
  std::uint64_t steps = 0;
  for (const ClockLine& line : lines) steps += line.steps;
  run.report("clock.globaltimer_step_ns", timer_step_ns(rows), steps);
}

}  // namespace

void run_clock(JobRun& run) {
  report_pace(run);  // first, as the GPU may still be cold
  const std::vector<int> sms = all_sms(run);
  const Trace& empty = run.run("empty window", ClockProbe{ClockWindow::empty, sms, window_samples});
  const Trace& sink = run.run("sink window", ClockProbe{ClockWindow::sink, sms, window_samples});
  run.report(found_median("clock.overhead_cycles", latencies_of(empty, 0)));
  run.report(found_median("clock.window_cycles", latencies_of(sink, 0)));

  // As many readings (two 8-byte numbers) as fit into half of a block's shared memory. The longer
  // they last, the less the coarse steps of the timer disturb the rate.
  const std::uint64_t longest =
      std::clamp(run.info().shared_bytes_per_block / 32, fewest_timestamps, most_timestamps);
  const Trace& rows =
      run.run("long rows of timestamps", TimestampProbe{spread_sms(run, rate_sms), longest});
  const std::uint64_t samples = choose_timestamps(rows.lanes.at(0));
  const Trace& stamps = run.run("timestamps of all SMs", TimestampProbe{sms, samples});
  report_granularity(run, empty.lanes.at(0), sink.lanes.at(0), rows.lanes.at(0));
  const std::vector<ClockLine> long_lines = fit_clocks(rows.lanes);
  const std::vector<ClockLine> lines = fit_clocks(stamps.lanes);
  const bool timer_moves = !lines.empty() && !long_lines.empty();
  if (timer_moves) report_timer_step(run, rows.lanes, long_lines);
  report_launches(run);
  if (!timer_moves) {
    return run.leave_open(
        "",
        fmt::format("the device-wide timer moved less than three times in {} readings", samples));
  }
  std::vector<double> rates_hz;
  for (const ClockLine& line : long_lines) rates_hz.push_back(line.hz);
  run.report(found_median("clock.sm_hz", rates_hz));
  report_scope(run, lines);
}

}  // namespace sonde
