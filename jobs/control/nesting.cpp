// A nest of branches, each level of which halves the threads that are left: what dividing a part of
// a warp and joining it again costs, and when each path ran (Wong 2010, section IV-C).
#include "analysis/statistics.hpp"
#include "analysis/structure/cores/divergence.hpp"
#include "jobs/control/parts.hpp"
#include "jobs/run/replicates.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

namespace sonde {
namespace {

/// A launch gives whole cycles that hardly vary.
constexpr StoppingRule nest_rule{.least = 5, .most = 8};

/// One warp through a nest of that depth, in which each thread goes with its neighbours.
WarpStamps nest(JobRun& run, int depth, int sm) {
  BranchProbe probe{
      .shape = BranchShape::nested, .path_of_thread = {}, .sms = {sm}, .depth = depth};
  const int threads = run.info().warp_threads;
  for (int thread = 0; thread < threads; ++thread) {
    probe.path_of_thread.push_back(thread * (1 << depth) / threads);
  }
  const Trace trace = run.ask(fmt::format("a nest {} deep", depth), probe);
  return read_warp(trace.lanes.front(), probe.path_of_thread);
}

/// What was seen on one SM.
struct NestCosts {
  std::vector<double> total_cycles;  // by depth
  double division_cycles = 0;
  double join_cycles = 0;
};

NestCosts measure_nests(JobRun& run, int sm) {
  NestCosts costs;
  std::vector<double> depths, divisions, lengths, tails;
  for (int depth = 0; depth <= most_branch_depth; ++depth) {
    const WarpStamps warp = nest(run, depth, sm);
    depths.push_back(depth);
    divisions.push_back((1 << depth) - 1);
    lengths.push_back(path_cycles(warp));
    tails.push_back(tail_cycles(warp));
    costs.total_cycles.push_back(total_cycles(warp));
  }
  // A path reads the clock at both ends, of which its length holds one.
  const double clock_cycles = run.number("clock.overhead_cycles").value_or(0);
  costs.division_cycles =
      fit_line(divisions, costs.total_cycles).slope - median(lengths) - clock_cycles;
  costs.join_cycles = fit_line(depths, tails).slope;
  return costs;
}

void report_costs(JobRun& run) {
  std::vector<NestCosts> seen;
  const Replicates divisions = measure_replicates(
      run, "nested branches",
      [&](const Draw& draw) {
        seen.push_back(measure_nests(run, draw.sm));
        return std::vector<double>{seen.back().division_cycles};
      },
      nest_rule);
  run.report(
      found_replicated("control.nested_cost_cycles", summarize_replicates(divisions.samples)));
  std::vector<std::vector<double>> joins;
  for (const NestCosts& one : seen) joins.push_back({one.join_cycles});
  run.report(found_replicated("control.nested_join_cycles", summarize_replicates(joins)));
  std::vector<double> depths, by_depth;
  for (int depth = 0; depth <= most_branch_depth; ++depth) {
    std::vector<double> totals;
    for (const NestCosts& one : seen) {
      totals.push_back(one.total_cycles[static_cast<std::size_t>(depth)]);
    }
    depths.push_back(depth);
    by_depth.push_back(median(totals));
  }
  run.report(found("control.nested_depths", std::move(depths), 1, seen.size()));
  run.report(found("control.nested_by_depth_cycles", std::move(by_depth), 1, seen.size()));
}

void report_timeline(JobRun& run) {
  const WarpStamps warp = nest(run, most_branch_depth, 0);
  const std::vector<int> order = path_order(warp);
  std::vector<PathSpan> paths = warp.paths;
  std::ranges::sort(paths, {}, &PathSpan::path);
  std::vector<double> begins, ends;
  for (const PathSpan& path : paths) {
    begins.push_back(static_cast<double>(path.begin_cycles - warp.before_cycles));
    ends.push_back(static_cast<double>(path.end_cycles - warp.before_cycles));
  }
  const std::size_t samples = paths.size();
  run.report(
      found("control.nested_order", std::vector<double>(order.begin(), order.end()), 1, samples));
  run.report(found("control.nested_begin_cycles", std::move(begins), 1, samples));
  run.report(found("control.nested_end_cycles", std::move(ends), 1, samples));
}

}  // namespace

void measure_nesting(JobRun& run) {
  report_timeline(run);
  report_costs(run);
}

}  // namespace sonde
