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
  return std::min(most_timestamps,
                  first_timestamps * wanted_timer_steps / std::max<std::uint64_t>(1, steps));
}

void report_granularity(JobRun& run, const Trace& trace) {
  std::vector<double> steps;
  std::uint64_t samples = 0;
  for (const LaneTrace& lane : trace.lanes) {
    const double step = counter_step(lane.clock_cycles);
    if (step > 0) steps.push_back(step);
    samples += lane.clock_cycles.size();
  }
  if (steps.empty()) {
    run.report(not_resolvable("clock.granularity_cycles", "the clock never moved"));
    return;
  }
  run.report(found("clock.granularity_cycles", *std::min_element(steps.begin(), steps.end()), 1,
                   samples, median_absolute_deviation(steps)));
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
  report_window(run, "clock.overhead_cycles",
                run.run("empty window", ClockProbe{ClockWindow::empty, sms, window_samples}));
  report_window(run, "clock.window_cycles",
                run.run("sink window", ClockProbe{ClockWindow::sink, sms, window_samples}));

  const std::uint64_t samples = choose_timestamps(run);
  const Trace& stamps = run.run("timestamps", TimestampProbe{sms, samples});
  report_granularity(run, stamps);
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
