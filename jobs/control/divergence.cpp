// Diverged warps, also nested: which path runs first and what changes that, whether paths overlap,
// the cost of dividing and joining, and timelines (Wong 2010, section IV-C, figures 7 and 8).
#include "analysis/structure/cores/divergence.hpp"

#include "analysis/statistics.hpp"
#include "jobs/control/parts.hpp"
#include "jobs/run/attempt.hpp"
#include "jobs/run/clock_window.hpp"
#include "jobs/run/replicates.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <numeric>
#include <span>
#include <string>
#include <utility>

namespace sonde {
namespace {

constexpr int timeline_warps = 2;
/// Cycles hardly vary from launch to launch.
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

/// The warps of all SMs, one after the other.
std::vector<WarpStamps> branch(JobRun& run, const std::string& label, const BranchProbe& probe) {
  const Trace trace = run.ask(label, probe);
  std::vector<WarpStamps> warps;
  for (const LaneTrace& lane : trace.lanes) {
    warps.push_back(read_warp(lane, probe.path_of_thread));
  }
  return warps;
}

/// Order in which the paths of a chain run; empty if SMs differ.
std::vector<int> chain_order(JobRun& run, const std::string& label, const Paths& paths) {
  const std::vector<WarpStamps> warps = branch(run, label,
                                               {.shape = BranchShape::else_chain,
                                                .path_of_thread = paths,
                                                .sms = spread_sms(run, voting_sms)});
  const std::vector<int> order = path_order(warps.front());
  const bool all_alike =
      std::ranges::all_of(warps, [&](const WarpStamps& warp) { return path_order(warp) == order; });
  return all_alike ? order : std::vector<int>{};
}

/// What changes the order of the paths of a chain; nothing if SMs differ.
std::optional<std::string> order_depends_on(JobRun& run, const std::vector<int>& straight) {
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
  if (reversed.empty() || few_first.empty() || many_first.empty()) return std::nullopt;
  if (reversed != straight) return "numbers of threads";
  return few_first == many_first ? "nothing" : "active threads";
}

void report_path_order(JobRun& run) {
  constexpr const char* sms_differ = "SMs ran the paths in different orders";
  const std::vector<int> order =
      chain_order(run, "a chain of 32 paths", make_paths(run, [](int thread) { return thread; }));
  if (order.empty()) {
    for (const char* prefix : {"control.path_order", "control.first_path", "control.order_"}) {
      run.leave_open(prefix, sms_differ);
    }
    return;
  }
  run.report("control.path_order", order, order.size());
  if (const auto cause = order_depends_on(run, order)) {
    run.report("control.order_depends_on", *cause, 4);
  }
  run.leave_open("control.order_", sms_differ);
  if (const auto first = first_run(order)) {
    run.report("control.first_path", *first, order.size());
  }
  run.leave_open(
      "control.first_path",
      "in a chain of branches, the taken side ran first in some branches and not in others");
}

/// Begin and end of each path of the warps, by path number, from the earliest stamp on.
void report_spans(JobRun& run, const std::string& prefix, const std::vector<WarpStamps>& warps) {
  const std::uint64_t zero = std::ranges::min(warps, {}, &WarpStamps::before_cycles).before_cycles;
  std::vector<double> begins, ends;
  for (const WarpStamps& warp : warps) {
    std::vector<PathSpan> paths = warp.paths;
    std::ranges::sort(paths, {}, &PathSpan::path);
    for (const PathSpan& path : paths) {
      begins.push_back(static_cast<double>(path.begin_cycles - zero));
      ends.push_back(static_cast<double>(path.end_cycles - zero));
    }
  }
  const std::size_t samples = begins.size();
  run.report(prefix + "begin_cycles", std::move(begins), samples);
  run.report(prefix + "end_cycles", std::move(ends), samples);
}

void report_timelines(JobRun& run) {
  const Paths paths = make_paths(run, [](int thread) { return thread; });
  const std::vector<WarpStamps> warps = branch(
      run, "timelines of a switch", {.path_of_thread = paths, .warps = timeline_warps, .sms = {0}});
  report_spans(run, "control.timeline_", warps);
  std::vector<PathSpan> all;
  bool overlap_within = false;
  for (const WarpStamps& warp : warps) {
    overlap_within = overlap_within || some_overlap(warp.paths);
    all.insert(all.end(), warp.paths.begin(), warp.paths.end());
  }
  const std::size_t samples = all.size();
  run.report("control.switch_order", path_order(warps.front()), samples);
  run.report("control.paths", overlap_within ? "overlap" : "one after the other", samples);
  if (overlap_within) {
    return run.leave_open("control.warps", "even the paths of one warp overlap");
  }
  run.report("control.warps", some_overlap(all) ? "overlap" : "one after the other", samples);
}

/// A kind of branch that grows: a switch with more paths, or a nest with more levels.
struct GrowingBranch {
  const char* what;  // names its replicates
  std::vector<int> steps;
  WarpStamps (*play)(JobRun& run, int step, int sm);
  std::size_t joined_steps;  // the first steps, which show the cost of a join
  const char* part_metric;   // cost of a further path
  const char* join_metric;
  const char* steps_metric;
  const char* total_metric;               // by step
  const char* together_metric = nullptr;  // where threads are together again, if that is reported
};

/// A switch whose cases share the threads of a warp in turn.
WarpStamps play_switch(JobRun& run, int paths, int sm) {
  return branch(run, fmt::format("a switch with {} paths", paths),
                {.path_of_thread = make_paths(run, [&](int thread) { return thread % paths; }),
                 .sms = {sm}})
      .front();
}

/// A nest in which each thread stays with its neighbours.
WarpStamps play_nest(JobRun& run, int depth, int sm) {
  const int threads = run.info().warp_threads;
  return branch(run, fmt::format("a nest {} deep", depth),
                {.shape = BranchShape::nested,
                 .path_of_thread =
                     make_paths(run, [&](int thread) { return thread * (1 << depth) / threads; }),
                 .sms = {sm},
                 .depth = depth})
      .front();
}

/// Costs on one SM.
struct BranchCosts {
  std::vector<double> total_cycles;  // by step
  double part_cycles = 0;
  double join_cycles = 0;
  bool together = true;  // all threads run together again after the branch
};

BranchCosts measure_costs(JobRun& run, const GrowingBranch& kind, int sm) {
  BranchCosts costs;
  std::vector<double> steps, paths, lengths, tails;
  for (int step : kind.steps) {
    const WarpStamps warp = kind.play(run, step, sm);
    steps.push_back(step);
    paths.push_back(static_cast<double>(warp.paths.size()));
    costs.total_cycles.push_back(total_cycles(warp));
    lengths.push_back(path_cycles(warp));
    const std::uint64_t last_end =
        std::ranges::max(warp.paths, {}, &PathSpan::end_cycles).end_cycles;
    // From the end of the last path until all threads are past the branch.
    tails.push_back(static_cast<double>(std::max(warp.last_behind_cycles, last_end) - last_end));
    const bool all_at_once = warp.first_behind_cycles == warp.last_behind_cycles;
    costs.together = costs.together && all_at_once && warp.first_behind_cycles >= last_end;
  }
  // A path reads the clock at both ends; its length contains one of the two readings.
  const double clock_cycles = run.number("clock.overhead_cycles").value_or(0);
  costs.part_cycles = fit_line(paths, costs.total_cycles).slope - median(lengths) - clock_cycles;
  costs.join_cycles =
      fit_line(std::span(steps).first(kind.joined_steps), std::span(tails).first(kind.joined_steps))
          .slope;
  return costs;
}

void report_costs(JobRun& run, const GrowingBranch& kind) {
  std::vector<std::vector<double>> totals, joins;
  bool together = true;
  const Replicates parts = measure_replicates(
      run, kind.what,
      [&](const Draw& draw) {
        BranchCosts costs = measure_costs(run, kind, draw.sm);
        totals.push_back(std::move(costs.total_cycles));
        joins.push_back({costs.join_cycles});
        together = together && costs.together;
        return std::vector<double>{costs.part_cycles};
      },
      branch_rule);
  run.report(found_replicated(kind.part_metric, parts));
  run.report(found_replicated(kind.join_metric, Replicates{joins}));
  run.report(kind.steps_metric, kind.steps, totals.size());
  run.report(kind.total_metric, medians_by_place(totals), totals.size());
  if (kind.together_metric == nullptr) return;
  run.report(kind.together_metric, together ? "where the paths join" : "later", totals.size());
}

void measure_divergence(JobRun& run) {
  report_timelines(run);
  report_path_order(run);
  report_costs(run, {.what = "diverged warps",
                     .steps = {1, 2, 4, 8, 16, 32},
                     .play = play_switch,
                     .joined_steps = 2,
                     .part_metric = "control.divergence_cost_cycles",
                     .join_metric = "control.reconvergence_cycles",
                     .steps_metric = "control.path_counts",
                     .total_metric = "control.by_paths_cycles",
                     .together_metric = "control.reconvergence"});
}

void measure_nesting(JobRun& run) {
  const WarpStamps warp = play_nest(run, most_branch_depth, 0);
  run.report("control.nested_order", path_order(warp), warp.paths.size());
  report_spans(run, "control.nested_", {warp});
  std::vector<int> depths(most_branch_depth + 1);
  std::iota(depths.begin(), depths.end(), 0);
  report_costs(run, {.what = "nested branches",
                     .steps = depths,
                     .play = play_nest,
                     .joined_steps = depths.size(),
                     .part_metric = "control.nested_cost_cycles",
                     .join_metric = "control.nested_join_cycles",
                     .steps_metric = "control.nested_depths",
                     .total_metric = "control.nested_by_depth_cycles"});
}

}  // namespace

void report_divergence(JobRun& run) {
  measure_part(run, {"control.nested"}, [&] { measure_nesting(run); });
  measure_part(run, {"control."}, [&] { measure_divergence(run); });
}

}  // namespace sonde
