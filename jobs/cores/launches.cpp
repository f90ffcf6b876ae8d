// Duration of a launch, and whether launches of one stream overlap: the launch metrics of the job
// clock. Method: docs/methods/clock.md.
#include "analysis/statistics.hpp"
#include "analysis/structure/cores/pace.hpp"
#include "jobs/cores/parts.hpp"
#include "jobs/run/attempt.hpp"
#include "jobs/run/clock_window.hpp"

#include <fmt/format.h>

namespace sonde {
namespace {

constexpr int lone_launches = 64;  // half a millisecond
constexpr int queued_launches = 16;
constexpr int queued_repeats = 16;
/// Long enough that all blocks of a launch begin before the first one ends.
constexpr std::uint64_t busy_ns = 10'000;
constexpr int busy_launches = 8;
constexpr int busy_repeats = 3;

/// Reports the host's wait for one empty launch, and for each further one queued behind it.
void report_waits(JobRun& run) {
  const Trace& lone = run.run("empty launches one by one",
                              LaunchProbe{.launches = 1, .blocks = 1, .repeats = lone_launches});
  const Trace& queued =
      run.run("empty launches in a row",
              LaunchProbe{.launches = queued_launches, .blocks = 1, .repeats = queued_repeats});
  const double lone_ns = median(lone.repeat_ns);
  run.report(found_median("clock.launch_overhead_ns", lone.repeat_ns));
  run.report("clock.launch_queued_ns", (median(queued.repeat_ns) - lone_ns) / (queued_launches - 1),
             queued.repeat_ns.size());
}

/// Reports how launches follow each other that keep every SM busy for a while.
void report_launch_order(JobRun& run) {
  LaunchOrder all;
  for (int repeat = 0; repeat < busy_repeats; ++repeat) {
    const Trace& trace = run.run(
        fmt::format("busy launches in a row, repeat {}", repeat),
        LaunchProbe{.launches = busy_launches, .blocks = run.info().sm_count, .busy_ns = busy_ns});
    const LaunchOrder order = order_launches(trace.lanes);
    all.gaps_ns.insert(all.gaps_ns.end(), order.gaps_ns.begin(), order.gaps_ns.end());
    all.spreads_ns.insert(all.spreads_ns.end(), order.spreads_ns.begin(), order.spreads_ns.end());
  }
  if (all.gaps_ns.empty()) {
    return run.leave_open("clock.launch_",
                          "no block ran on the SMs that are measured (the GPU places them)");
  }
  run.report(found_median("clock.launch_gap_ns", all.gaps_ns));
  run.report(found_median("clock.launch_spread_ns", all.spreads_ns));
  const double step_ns = run.number("clock.globaltimer_step_ns").value_or(0);
  const auto order = name_order(all, step_ns);
  run.report(order ? found("clock.launch_order", *order, 1, all.gaps_ns.size())
                   : not_resolvable("clock.launch_order", "some launches overlap, others do not"));
}

}  // namespace

void report_launches(JobRun& run) {
  measure_part(run, {"clock.launch_"}, [&] {
    report_waits(run);
    report_launch_order(run);
  });
}

}  // namespace sonde
