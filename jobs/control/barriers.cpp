// Costs of barriers of blocks by their warps, of named barriers, of clusters and of the whole GPU,
// and the length of sleeps. Every launch runs on all SMs; each SM is a sample.
#include "analysis/statistics.hpp"
#include "jobs/control/parts.hpp"
#include "jobs/run/attempt.hpp"
#include "jobs/run/clock_window.hpp"
#include "jobs/run/replicates.hpp"

#include <fmt/format.h>

#include <string>
#include <utility>

namespace sonde {
namespace {

/// Per launch: about 10 us, of which begin and end take a hundredth.
constexpr int block_barriers = 512;
constexpr int wide_barriers = 128;  // of clusters and the grid, which take ten times as long
constexpr StoppingRule barrier_rule{.least = 5, .most = 8};
constexpr int warp_counts[] = {1, 2, 4, 8, 16, 32};
constexpr int cluster_sizes[] = {2, 4, 8, 16};

constexpr std::uint32_t asked_ns[] = {0, 50, 100, 200, 500, 1000, 2000, 5000, 10000};
constexpr int sleeps = 16;
constexpr int sleeping_sms = 8;

void report_barrier(JobRun& run, const std::string& metric, const BarrierProbe& probe) {
  const Replicates replicates = measure_replicates(
      run, metric, [&](const Draw&) { return cycles_per_access(run.ask(metric, probe)); },
      barrier_rule);
  run.report(found_replicated(metric, replicates));
}

void measure_block_barriers(JobRun& run) {
  BarrierProbe probe{.barriers = block_barriers, .sms = all_sms(run)};
  report_barrier(run, "control.barrier_latency_cycles", probe);
  report_barrier(run, "control.barrier_clock_pair_cycles",
                 {.kind = BarrierKind::clocked, .barriers = block_barriers, .sms = probe.sms});
  std::vector<double> warps, cycles;
  for (int count : warp_counts) {
    if (count * run.info().warp_threads > run.info().max_threads_per_block) continue;
    probe.warps = count;
    warps.push_back(count);
    const std::string label = fmt::format("barrier of {} warps", count);
    cycles.push_back(median(cycles_per_access(run.ask(label, probe))));
  }
  const std::size_t samples = cycles.size() * probe.sms.size();
  if (warps.size() < 2) {
    run.leave_open("control.barrier_warp_cycles", "blocks have one warp at most");
  } else {
    run.report("control.barrier_warp_cycles", fit_line(warps, cycles).slope, samples);
  }
  run.report("control.barrier_warps", std::move(warps), samples);
  run.report("control.barrier_by_warps_cycles", std::move(cycles), samples);
}

void measure_cluster_barriers(JobRun& run) {
  if (run.info().max_cluster_blocks == 0) {
    return run.leave_open("control.cluster_barrier",
                          "the GPU has no thread block clusters (from compute capability 9.0 on)");
  }
  BarrierProbe probe{
      .kind = BarrierKind::cluster, .cluster_blocks = 2, .barriers = wide_barriers, .sms = {}};
  report_barrier(run, "control.cluster_barrier_cycles", probe);
  std::vector<double> blocks, cycles;
  for (int count : cluster_sizes) {
    probe.cluster_blocks = count;
    const std::string label = fmt::format("barrier of clusters of {}", count);
    const auto refusal =
        refusal_of([&] { cycles.push_back(median(cycles_per_access(run.ask(label, probe)))); });
    if (refusal) break;  // larger clusters do not fit either
    blocks.push_back(count);
  }
  const std::size_t samples = blocks.size();
  run.report("control.cluster_barrier_blocks", std::move(blocks), samples);
  run.report("control.cluster_barrier_by_blocks_cycles", std::move(cycles), samples);
}

void measure_sleeps(JobRun& run) {
  const double hz = sm_clock_hz(run);
  if (!(hz > 0)) {
    return run.leave_open("control.nanosleep", "the SM clock is not known");
  }
  std::vector<double> asked, taken, longest;
  std::uint64_t samples = 0;
  for (std::uint32_t ns : asked_ns) {
    const Trace trace = run.ask(
        fmt::format("sleep for {} ns", ns),
        SleepProbe{.asked_ns = ns, .samples = sleeps, .sms = spread_sms(run, sleeping_sms)});
    std::vector<double> times_ns = latencies_of(trace, 0);
    for (double& time : times_ns) time *= 1e9 / hz;
    if (ns == 0) {
      run.report(found_median("control.nanosleep_least_ns", times_ns));
      continue;
    }
    samples += times_ns.size();
    asked.push_back(ns);
    taken.push_back(median(times_ns));
    longest.push_back(quantile(times_ns, 0.9));
  }
  run.report("control.nanosleep_asked_ns", std::move(asked), samples);
  run.report("control.nanosleep_taken_ns", std::move(taken), samples);
  run.report("control.nanosleep_longest_ns", std::move(longest), samples);
}

}  // namespace

void report_barriers(JobRun& run) {
  measure_part(run, {"control.barrier"}, [&] { measure_block_barriers(run); });
  measure_part(run, {"control.named_barrier"}, [&] {
    report_barrier(run, "control.named_barrier_cycles",
                   {.kind = BarrierKind::named, .barriers = block_barriers, .sms = all_sms(run)});
  });
  measure_part(run, {"control.cluster_barrier"}, [&] { measure_cluster_barriers(run); });
  measure_part(run, {"control.grid_barrier"}, [&] {
    report_barrier(run, "control.grid_barrier_cycles",
                   {.kind = BarrierKind::grid, .barriers = wide_barriers, .sms = {}});
  });
  measure_part(run, {"control.nanosleep"}, [&] { measure_sleeps(run); });
}

}  // namespace sonde
