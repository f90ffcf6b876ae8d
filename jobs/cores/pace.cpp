// The SM clock under load: its rate, how long it takes to become steady, and whether measurements
// at it are sound. Part of the job clock. Method: docs/methods/clock.md.
#include "analysis/structure/cores/pace.hpp"

#include "jobs/cores/parts.hpp"
#include "jobs/run/attempt.hpp"
#include "jobs/run/clock_window.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <string>

namespace sonde {
namespace {

/// Long against the timer's step of up to a microsecond (0.2 % of it, less over many SMs).
constexpr std::uint64_t interval_ns = 500'000;
constexpr std::uint64_t long_samples = 81;   // 40 ms
constexpr std::uint64_t short_samples = 11;  // 5 ms

void report_load(JobRun& run, const std::optional<Pace>& load, double idle_hz) {
  if (!load) {
    return run.leave_open("clock.load_", "the clock does not become steady while all SMs work");
  }
  run.report(found("clock.load_hz", load->hz, 1, load->points, load->jitter_fraction * load->hz));
  run.report("clock.jitter_fraction", load->jitter_fraction, load->points);
  run.report(idle_hz > 0
                 ? found("clock.load_ratio", load->hz / idle_hz, 1, load->points)
                 : not_resolvable("clock.load_ratio", "the clock without load is not known"));
}

void report_settling(JobRun& run, const std::optional<Pace>& load) {
  if (run.level() == SuiteLevel::quick) return run.skip_rest("clock.settle_");
  if (load) {
    return run.report(found("clock.settle_ms", load->settle_ns * 1e-6, 1, load->points),
                      fmt::format("to {:.1f} ms", static_cast<double>(interval_ns) * 1e-6));
  }
  run.leave_open("clock.settle_ms",
                 fmt::format("the clock is not steady after {:.0f} ms",
                             static_cast<double>(interval_ns * long_samples) * 1e-6));
}

void report_soundness(JobRun& run, const ClockState& state) {
  const std::vector<std::string> doubts = doubts_of(state);
  run.report(found("clock.sound", std::string(doubts.empty() ? "yes" : "no"), 1, 1),
             fmt::format("{}", fmt::join(doubts, "; ")));
}

}  // namespace

void report_pace(JobRun& run) {
  const auto refusal = refusal_of([&] {
    const std::vector<int> sms = all_sms(run);
    const bool quick = run.level() == SuiteLevel::quick;
    const Trace& loaded = run.run("clock under load, from the first moment on",
                                  PaceProbe{.work = SmWork::arithmetic,
                                            .sms = sms,
                                            .samples = quick ? short_samples : long_samples,
                                            .interval_ns = interval_ns});
    const Trace& idle = run.run("clock without load", PaceProbe{.work = SmWork::none,
                                                                .sms = sms,
                                                                .samples = short_samples,
                                                                .interval_ns = interval_ns});
    const auto without_load = find_pace(pace_over_time(idle.lanes));
    const ClockState state{
        .throttle_reasons = loaded.conditions.throttle_reasons | idle.conditions.throttle_reasons,
        .highest_hz = run.info().sm_clock_hz,
        .idle_hz = without_load ? without_load->hz : 0,
        .under_load = find_pace(pace_over_time(loaded.lanes))};
    report_load(run, state.under_load, state.idle_hz);
    report_settling(run, state.under_load);
    report_soundness(run, state);
  });
  for (const char* prefix : {"clock.load_", "clock.jitter_", "clock.settle_", "clock.sound"}) {
    run.leave_open(prefix, refusal.value_or("the clock does not become steady while all SMs work"));
  }
}

}  // namespace sonde
