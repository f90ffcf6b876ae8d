// Diverged warps: which path runs first and what changes that, whether paths overlap, what dividing
// and joining cost, and the timelines of two warps (Wong 2010, section IV-C, figures 7 and 8).
#include "analysis/structure/cores/divergence.hpp"

#include "analysis/statistics.hpp"
#include "jobs/control/parts.hpp"
#include "jobs/run/clock_window.hpp"
#include "jobs/run/replicates.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <string>
#include <utility>

namespace sonde {
namespace {

constexpr int measured_sms = 3;  // a vote that one odd SM cannot turn
constexpr int timeline_warps = 2;
constexpr int counted_paths[] = {1, 2, 4, 8, 16, 32};
/// A launch gives whole cycles that hardly vary.
constexpr StoppingRule branch_rule{.least = 5, .most = 8};

using Paths = std::vector<int>;

/// The path of each thread of a warp.
Paths make_paths(const JobRun& run, const std::function<int(int)>& path_of) {
  Paths paths;
  for (int thread = 0; thread < run.info().warp_threads; ++thread) {
    paths.push_back(path_of(thread));
  }
  return paths;
}

/// The warps of one SM after the other.
std::vector<WarpStamps> branch(JobRun& run, const std::string& label, const BranchProbe& probe) {
  const Trace trace = run.ask(label, probe);
  std::vector<WarpStamps> warps;
  for (const LaneTrace& lane : trace.lanes) {
    warps.push_back(read_warp(lane, probe.path_of_thread));
  }
  return warps;
}

/// Orders of the paths of a chain on some SMs; empty if SMs differ.
std::vector<int> chain_order(JobRun& run, const std::string& label, const Paths& paths) {
  const std::vector<WarpStamps> warps =
      branch(run, label,
             {.shape = BranchShape::else_chain,
              .path_of_thread = paths,
              .sms = spread_sms(run.info().sm_count, measured_sms)});
  const std::vector<int> order = path_order(warps.front());
  const bool all_alike =
      std::ranges::all_of(warps, [&](const WarpStamps& warp) { return path_order(warp) == order; });
  return all_alike ? order : std::vector<int>{};
}

std::vector<double> as_numbers(const std::vector<int>& values) {
  return {values.begin(), values.end()};
}

/// What changes the order of the paths of a chain.
std::string order_depends_on(JobRun& run, const std::vector<int>& straight) {
  const int threads = run.info().warp_threads;
  const std::vector<int> reversed =
      chain_order(run, "a chain, threads reversed",
                  make_paths(run, [&](int thread) { return threads - 1 - thread; }));
  const std::vector<int> few_first =
      chain_order(run, "a chain of two paths, 1 and 31 threads",
                  make_paths(run, [](int thread) { return thread == 0 ? 0 : 1; }));
  const std::vector<int> many_first =
      chain_order(run, "a chain of two paths, 31 and 1 threads",
                  make_paths(run, [&](int thread) { return thread == threads - 1 ? 1 : 0; }));
  if (reversed != straight) return "numbers of threads";
  return few_first == many_first ? "nothing" : "active threads";
}

void report_order(JobRun& run) {
  const std::vector<int> order =
      chain_order(run, "a chain of 32 paths", make_paths(run, [](int thread) { return thread; }));
  if (order.empty()) {
    for (const char* metric :
         {"control.path_order", "control.first_path", "control.order_depends_on"}) {
      run.report(not_resolvable(metric, "SMs ran the paths in different orders"));
    }
    return;
  }
  run.report(found("control.path_order", as_numbers(order), 1, order.size()));
  const std::string cause = order_depends_on(run, order);
  run.report(found("control.order_depends_on", cause, 1, 4));
  const auto first = first_run(order);
  if (!first) {
    return run.report(not_resolvable("control.first_path",
                                     "neither all taken nor all other sides of a chain ran first"));
  }
  run.report(found("control.first_path",
                   std::string(*first == FirstRun::taken ? "taken" : "fall_through"), 1,
                   order.size()));
}

/// Begins and ends of the paths of a warp, by path number, since the first stamp of the block.
void add_timeline(const WarpStamps& warp, std::uint64_t zero_cycles, std::vector<double>& begins,
                  std::vector<double>& ends) {
  std::vector<PathSpan> paths = warp.paths;
  std::ranges::sort(paths, {}, &PathSpan::path);
  for (const PathSpan& path : paths) {
    begins.push_back(static_cast<double>(path.begin_cycles - zero_cycles));
    ends.push_back(static_cast<double>(path.end_cycles - zero_cycles));
  }
}

void report_timelines(JobRun& run) {
  const Paths paths = make_paths(run, [](int thread) { return thread; });
  const std::vector<WarpStamps> warps = branch(
      run, "timelines of a switch", {.path_of_thread = paths, .warps = timeline_warps, .sms = {0}});
  std::uint64_t zero = warps.front().before_cycles;
  for (const WarpStamps& warp : warps) zero = std::min(zero, warp.before_cycles);
  std::vector<double> begins, ends;
  std::vector<PathSpan> all;
  bool overlap_within = false;
  for (const WarpStamps& warp : warps) {
    add_timeline(warp, zero, begins, ends);
    overlap_within = overlap_within || some_overlap(warp.paths);
    all.insert(all.end(), warp.paths.begin(), warp.paths.end());
  }
  const std::size_t samples = begins.size();
  run.report(found("control.timeline_begin_cycles", std::move(begins), 1, samples));
  run.report(found("control.timeline_end_cycles", std::move(ends), 1, samples));
  run.report(found("control.switch_order", as_numbers(path_order(warps.front())), 1, samples));
  run.report(found("control.paths", std::string(overlap_within ? "overlap" : "one after the other"),
                   1, samples));
  if (overlap_within) {
    return run.report(not_resolvable("control.warps", "paths of one warp overlap already"));
  }
  run.report(found("control.warps",
                   std::string(some_overlap(all) ? "overlap" : "one after the other"), 1, samples));
}

/// One warp whose threads are dealt over so many cases of a switch.
WarpStamps dealt_warp(JobRun& run, int paths, int sm) {
  return branch(run, fmt::format("a switch with {} paths", paths),
                {.path_of_thread = make_paths(run, [&](int thread) { return thread % paths; }),
                 .sms = {sm}})
      .front();
}

/// What was seen on one SM.
struct BranchCosts {
  std::vector<double> total_cycles;  // by counted_paths
  double further_path_cycles = 0;
  double reconvergence_cycles = 0;
  bool together = true;  // behind the branch
};

BranchCosts measure_costs(JobRun& run, int sm) {
  BranchCosts costs;
  std::vector<double> counts, lengths;
  double straight_tail = 0;
  for (int paths : counted_paths) {
    const WarpStamps warp = dealt_warp(run, paths, sm);
    counts.push_back(paths);
    costs.total_cycles.push_back(total_cycles(warp));
    lengths.push_back(path_cycles(warp));
    if (paths == 1) straight_tail = tail_cycles(warp);
    if (paths == 2) costs.reconvergence_cycles = tail_cycles(warp) - straight_tail;
    std::uint64_t last_end = 0;
    for (const PathSpan& path : warp.paths) last_end = std::max(last_end, path.end_cycles);
    const bool all_at_once = warp.first_behind_cycles == warp.last_behind_cycles;
    costs.together = costs.together && all_at_once && warp.first_behind_cycles >= last_end;
  }
  // A path reads the clock at both ends, of which its length holds one.
  const double clock_cycles = run.number("clock.overhead_cycles").value_or(0);
  costs.further_path_cycles =
      fit_line(counts, costs.total_cycles).slope - median(lengths) - clock_cycles;
  return costs;
}

void report_costs(JobRun& run) {
  std::vector<BranchCosts> seen;
  const Replicates costs = measure_replicates(
      run, "diverged warps",
      [&](const Draw& draw) {
        seen.push_back(measure_costs(run, draw.sm));
        return std::vector<double>{seen.back().further_path_cycles};
      },
      branch_rule);
  run.report(
      found_replicated("control.divergence_cost_cycles", summarize_replicates(costs.samples)));
  std::vector<std::vector<double>> joins;
  std::vector<double> by_paths;
  for (const BranchCosts& one : seen) joins.push_back({one.reconvergence_cycles});
  for (std::size_t i = 0; i < std::size(counted_paths); ++i) {
    std::vector<double> totals;
    for (const BranchCosts& one : seen) totals.push_back(one.total_cycles[i]);
    by_paths.push_back(median(totals));
  }
  const Finding join =
      found_replicated("control.reconvergence_cycles", summarize_replicates(joins));
  run.report(join);
  run.report(found("control.path_counts",
                   std::vector<double>(std::begin(counted_paths), std::end(counted_paths)), 1,
                   seen.size()));
  run.report(found("control.by_paths_cycles", std::move(by_paths), 1, seen.size()));
  const bool together = std::ranges::all_of(seen, &BranchCosts::together);
  run.report(found("control.reconvergence",
                   std::string(together ? "where the paths join" : "later"), 1, seen.size()));
}

}  // namespace

void measure_divergence(JobRun& run) {
  report_timelines(run);
  report_order(run);
  report_costs(run);
}

}  // namespace sonde
