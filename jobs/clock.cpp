// The clock job: what reading the clock costs, how it ticks, and which SMs share it. The first job
// of a suite, because every other one subtracts its window.
#include "analysis/structure/clock.hpp"
#include "analysis/statistics.hpp"
#include "jobs/jobs.hpp"
#include "jobs/windows.hpp"

#include <algorithm>
#include <cmath>
#include <string>

namespace sonde {
namespace {

constexpr std::uint64_t window_samples = 256;  // per SM
/// Steps of the device-wide timer to see on each SM: the offsets of two SMs are then compared to a
/// small part of the distance between two readings.
constexpr std::uint64_t wanted_timer_steps = 48;
constexpr std::uint64_t first_timestamps = 1024;
constexpr std::uint64_t most_timestamps = 16384;
constexpr std::uint64_t cold_loads = 256;
constexpr std::uint64_t cold_step_bytes = 8192;  // pages, rows and slices: latencies that differ

void report_window(JobRun& run, const std::string& metric, const Trace& trace) {
  std::vector<double> windows;
  for (const LaneTrace& lane : trace.lanes) {
    windows.insert(windows.end(), lane.window_cycles.begin(), lane.window_cycles.end());
  }
  const double spread = median_absolute_deviation(windows);
  const std::uint64_t samples = windows.size();
  run.report(found(metric, median(std::move(windows)), 1, samples, spread));
}

/// Enough readings for `wanted_timer_steps` steps, judged by a first look on one SM.
std::uint64_t choose_timestamps(JobRun& run) {
  const Trace& trace = run.run("timer look", TimestampProbe{{0}, first_timestamps});
  const auto& timer = trace.lanes.at(0).globaltimer_ns;
  std::uint64_t steps = 0;
  for (std::size_t i = 1; i < timer.size(); ++i) steps += timer[i] != timer[i - 1] ? 1 : 0;
  if (steps >= wanted_timer_steps) return first_timestamps;
  // A block keeps its readings, two 8-byte numbers each, in shared memory while it runs.
  const std::uint64_t most =
      std::min(most_timestamps, std::max(first_timestamps, run.info().shared_bytes_per_block / 32));
  return std::min(most, first_timestamps * wanted_timer_steps / std::max<std::uint64_t>(1, steps));
}

/// Windows of an SM as differences of two readings of its clock.
std::vector<std::uint64_t> window_differences(const LaneTrace& lane) {
  return {lane.window_cycles.begin(), lane.window_cycles.end()};
}

/// From durations that differ: empty and sink windows, loops of readings, and cold loads.
void report_granularity(JobRun& run, const LaneTrace& empty, const LaneTrace& sink,
                        const LaneTrace& stamps) {
  ChaseProbe cold;
  cold.path = LoadPath::cg;
  cold.buffer_bytes = cold_loads * cold_step_bytes;
  cold.lanes.push_back({empty.sm, {}});
  for (std::uint64_t i = 0; i < cold_loads; ++i) {
    cold.lanes[0].offsets_bytes.push_back(i * cold_step_bytes);
  }
  cold.timed_accesses = cold.recorded_accesses = cold_loads;
  const std::vector kinds{window_differences(empty), window_differences(sink),
                          counter_moves(stamps.clock_cycles),
                          window_differences(run.run("cold loads", cold).lanes.at(0))};
  std::uint64_t samples = 0;
  for (const auto& kind : kinds) samples += kind.size();
  const double step = common_step(kinds);
  run.report(step > 0 ? found("clock.granularity_cycles", step, 1, samples)
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
  run.report(found("clock.scope", std::string(name_clock_scope(groups)), complete, lines.size()));
  run.report(found("clock.group_of_sm", std::vector<double>(groups.begin(), groups.end()), complete,
                   lines.size()));
  run.report(found("clock.offset_cycles", std::move(offsets), complete, lines.size()));
}

void report_rate(JobRun& run, const std::vector<ClockLine>& lines) {
  std::vector<double> rates_hz;
  for (const ClockLine& line : lines) rates_hz.push_back(line.hz);
  const double spread = median_absolute_deviation(rates_hz);
  run.report(found("clock.sm_hz", median(rates_hz), 1, rates_hz.size(), spread));
}

}  // namespace

void run_clock(JobRun& run) {
  const std::vector<int> sms = all_sms(run.info().sm_count);
  const Trace& empty = run.run("empty window", ClockProbe{ClockWindow::empty, sms, window_samples});
  const Trace& sink = run.run("sink window", ClockProbe{ClockWindow::sink, sms, window_samples});
  report_window(run, "clock.overhead_cycles", empty);
  report_window(run, "clock.window_cycles", sink);

  const std::uint64_t samples = choose_timestamps(run);
  const Trace& stamps = run.run("timestamps", TimestampProbe{sms, samples});
  report_granularity(run, empty.lanes.at(0), sink.lanes.at(0), stamps.lanes.at(0));
  const std::vector<ClockLine> lines = fit_clocks(stamps.lanes);
  if (lines.empty()) {
    const std::string reason = "the device-wide timer moved less than three times in " +
                               std::to_string(samples) + " readings";
    for (const char* metric : {"clock.globaltimer_step_ns", "clock.sm_hz", "clock.scope",
                               "clock.group_of_sm", "clock.offset_cycles"}) {
      run.report(not_resolvable(metric, reason));
    }
    return;
  }
  std::uint64_t steps = 0;
  for (const ClockLine& line : lines) steps += line.steps;
  run.report(found("clock.globaltimer_step_ns", timer_step_ns(stamps.lanes), 1, steps));
  report_rate(run, lines);
  report_scope(run, lines);
}

}  // namespace sonde
