// Job `soak`: alternates reads of memory and arithmetic and records rate, clock and temperature of
// every round, to show how a warm GPU performs. Method: docs/methods/soak.md.
#include "analysis/statistics.hpp"
#include "analysis/structure/cores/pace.hpp"
#include "jobs/cores/stream_surface.hpp"
#include "jobs/run/clock_window.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <string>
#include <utility>
#include <vector>

namespace sonde {
namespace {

constexpr std::uint64_t usual_s = 60;
// A fitted line needs some points, and a launch must be shorter than the watchdog of a driver.
constexpr std::uint64_t fewest_rounds = 8;
constexpr double longest_round_s = 5;
constexpr std::uint64_t clock_samples = 20;  // of each round
// Close to the best shape of every GPU measured so far (docs/results).
constexpr Shape read_shape{.block_threads = 256, .blocks = blocks_by_tiles, .ilp = 4};
constexpr double most_repeats = 10'000;

struct Rounds {
  std::vector<double> time_s;
  std::vector<double> bytes_per_s;
  std::vector<double> clock_hz;
  std::vector<double> temperature_c;
  std::uint64_t throttle_reasons = 0;
};

double seconds_of(const std::vector<double>& repeats_ns) { return 1e-9 * median(repeats_ns); }

void note_conditions(const Conditions& seen, Rounds& rounds) {
  rounds.throttle_reasons |= seen.throttle_reasons & harmful_throttle_mask;
  rounds.temperature_c.back() = std::max(rounds.temperature_c.back(), seen.temperature_c);
}

void play_round(JobRun& run, const StreamProbe& reads, const PaceProbe& work, Rounds& rounds) {
  const double begin_s = rounds.time_s.empty() ? 0 : rounds.time_s.back();
  rounds.temperature_c.push_back(0);
  const Trace& read = run.run(fmt::format("reads of round {}", rounds.time_s.size()), reads);
  rounds.bytes_per_s.push_back(stream_bytes(reads) / seconds_of(read.repeat_ns));
  note_conditions(read.conditions, rounds);
  const Trace& pace = run.run(fmt::format("arithmetic of round {}", rounds.time_s.size()), work);
  std::vector<double> clocks_hz;
  for (const PacePoint& point : pace_over_time(pace.lanes)) clocks_hz.push_back(point.hz);
  rounds.clock_hz.push_back(median(clocks_hz));
  note_conditions(pace.conditions, rounds);
  rounds.time_s.push_back(begin_s + read.device_s + pace.device_s);
}

/// Reports the ratio of end to begin of a line through the rounds.
void report_change(JobRun& run, const std::string& metric, const Rounds& rounds,
                   const std::vector<double>& values) {
  const Trend trend = fit_trend(rounds.time_s, values);
  if (!(trend.first > 0)) {
    return run.leave_open(metric, "the rounds have no rates or no times");
  }
  Finding finding = found(metric, trend.last / trend.first, 1, values.size());
  finding.repeatability =
      trend.deviation / trend.first * std::sqrt(static_cast<double>(values.size()));
  run.report(std::move(finding));
}

void report_temperature(JobRun& run, const Rounds& rounds) {
  const double highest_c = std::ranges::max(rounds.temperature_c);
  if (highest_c > 0) {
    run.report("soak.highest_temperature_c", highest_c, rounds.time_s.size());
    return run.report("soak.temperature_by_round_c", rounds.temperature_c, rounds.time_s.size());
  }
  for (const char* metric : {"soak.highest_temperature_c", "soak.temperature_by_round_c"}) {
    run.leave_open(metric, "the driver reports no temperature");
  }
}

}  // namespace

void run_soak(JobRun& run) {
  const auto wanted_s = static_cast<double>(run.number_setting("duration_s").value_or(usual_s));
  const auto count =
      std::max(fewest_rounds, static_cast<std::uint64_t>(std::ceil(wanted_s / longest_round_s)));
  const double half_s = wanted_s / static_cast<double>(count) / 2;
  StreamProbe reads =
      with_shape(make_stream(StreamKind::read, span_beyond_l2(run.info(), 16)), read_shape);
  const double once_s = seconds_of(run.run("one read", reads).repeat_ns);
  reads.repeats = static_cast<int>(std::clamp(half_s / once_s, 1.0, most_repeats));
  const PaceProbe work{
      .work = SmWork::arithmetic,
      .sms = all_sms(run),
      .samples = clock_samples,
      .interval_ns = static_cast<std::uint64_t>(1e9 * half_s / static_cast<double>(clock_samples))};
  Rounds rounds;
  for (std::uint64_t i = 0; i < count; ++i) play_round(run, reads, work, rounds);
  run.report(found_median("soak.read_bytes_per_s", rounds.bytes_per_s));
  run.report(found_median("soak.clock_hz", rounds.clock_hz));
  report_change(run, "soak.read_last_over_first", rounds, rounds.bytes_per_s);
  report_change(run, "soak.clock_last_over_first", rounds, rounds.clock_hz);
  report_temperature(run, rounds);
  run.report("soak.throttle_reasons", rounds.throttle_reasons, count);
  run.report("soak.time_s", rounds.time_s, count);
  run.report("soak.read_by_round_bytes_per_s", rounds.bytes_per_s, count);
  run.report("soak.clock_by_round_hz", rounds.clock_hz, count);
}

}  // namespace sonde
