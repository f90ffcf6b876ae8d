// Small functions for jobs that measure cycles: window overhead, latencies, medians as findings.
#include "jobs/run/clock_window.hpp"

#include "analysis/statistics.hpp"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <numeric>
#include <utility>

namespace sonde {
namespace {

constexpr std::uint64_t calibration_samples = 512;  // far more than a median needs
// Clocks step by one cycle, or two on a GTX 280 (Wong 2010). Groups of latencies differ by more.
constexpr double longest_step_cycles = 8;

/// Greatest common divisor of the differences; if small, the clock's step or a multiple of it.
std::int64_t common_step(const std::vector<double>& values, double from) {
  std::int64_t step = 0;
  for (double value : values)
    step = std::gcd(step, static_cast<std::int64_t>(std::llround(value - from)));
  return step;
}

/// The median. If the clock counts in steps, the values lie above and below the true latency; then
/// the mean of the values within a step of the median.
double centre_of(const std::vector<double>& values) {
  const double middle = median(values);
  const auto step = static_cast<double>(common_step(values, values.front()));
  if (step <= 1 || step > longest_step_cycles) return middle;
  std::vector<double> close = values;
  std::erase_if(close, [&](double value) { return std::abs(value - middle) > step; });
  if (2 * close.size() < values.size()) return middle;
  return trimmed_mean(std::move(close), 0);
}

}  // namespace

double window_overhead_cycles(JobRun& run) {
  if (const auto known = run.number("clock.window_cycles")) return *known;
  const Trace& trace =
      run.run("sink window", ClockProbe{ClockWindow::sink, {0}, calibration_samples});
  return median(std::span<const std::uint32_t>(trace.lanes.at(0).window_cycles));
}

double sm_clock_hz(const JobRun& run) {
  return run.number("clock.sm_hz").value_or(run.info().sm_clock_hz);
}

std::vector<double> latencies_of(const LaneTrace& lane, double overhead_cycles) {
  std::vector<double> latencies;
  for (std::uint32_t window : lane.window_cycles) latencies.push_back(window - overhead_cycles);
  return latencies;
}

std::vector<double> latencies_of(const Trace& trace, double overhead_cycles) {
  std::vector<double> latencies;
  for (const LaneTrace& lane : trace.lanes) {
    std::ranges::copy(latencies_of(lane, overhead_cycles), std::back_inserter(latencies));
  }
  return latencies;
}

double precise_latency_cycles(std::span<const std::uint32_t> window_cycles,
                              double overhead_cycles) {
  return trimmed_mean({window_cycles.begin(), window_cycles.end()}, 0.1) - overhead_cycles;
}

std::vector<std::uint32_t> all_windows(const Trace& trace) {
  std::vector<std::uint32_t> windows;
  for (const LaneTrace& lane : trace.lanes) {
    windows.insert(windows.end(), lane.window_cycles.begin(), lane.window_cycles.end());
  }
  return windows;
}

Finding found_median(std::string metric, const std::vector<double>& values) {
  return found(std::move(metric), centre_of(values), 1, values.size(),
               normal_scale * median_absolute_deviation(values));
}

std::vector<double> cycles_per_access(const Trace& trace) {
  std::vector<double> cycles;
  for (const LaneTrace& lane : trace.lanes) {
    cycles.push_back(static_cast<double>(lane.elapsed_cycles) / static_cast<double>(lane.accesses));
  }
  return cycles;
}

std::vector<ChaseLane> lanes_of_all_sms(const JobRun& run, LoadPath path,
                                        const std::vector<std::uint64_t>& offsets_bytes) {
  std::vector<ChaseLane> lanes;
  for (int sm : all_sms(run)) {
    lanes.push_back({.sm = sm, .offsets_bytes = offsets_bytes, .path = path});
  }
  return lanes;
}

std::vector<int> all_sms(const JobRun& run) {
  std::vector<int> sms(static_cast<std::size_t>(run.info().sm_count));
  std::iota(sms.begin(), sms.end(), 0);
  return sms;
}

std::vector<int> spread_sms(const JobRun& run, int count) {
  const int sm_count = run.info().sm_count;
  const int taken = std::min(sm_count, count);
  std::vector<int> sms;
  for (int i = 0; i < taken; ++i) sms.push_back(i * sm_count / taken);
  return sms;
}

}  // namespace sonde
