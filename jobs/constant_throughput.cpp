// Job `constant.throughput`: bytes per cycle that the constant caches deliver to all blocks
// together, against the number of blocks (Wong 2010, figure 19), and which SMs share what limits
// the rate. Method: docs/methods/constant-throughput.md.
#include "analysis/statistics.hpp"
#include "analysis/structure/cores/constant_rates.hpp"
#include "jobs/cores/constant_streams.hpp"
#include "jobs/run/attempt.hpp"
#include "jobs/run/replicates.hpp"

#include <fmt/format.h>

#include <cmath>
#include <string>
#include <utility>

namespace sonde {
namespace {

constexpr StoppingRule lone_rule{.least = 5, .most = 8};

/// Rates by number of blocks, one row for each order of SMs.
using Curves = std::vector<std::vector<double>>;

void report_curve(JobRun& run, const LevelPlan& plan, const std::string& name,
                  const Curves& curves) {
  run.report(plan.prefix + name + "_bytes_per_cycle", medians_by_place(curves),
             curves.size() * curves.front().size(), plan.confidence);
}

void report_paper_curve(JobRun& run, const LevelPlan& plan, const BlockShape& shape,
                        const std::string& name, const std::vector<double>& blocks) {
  if (plan.fits(shape, run.info())) {
    return report_curve(run, plan, name, measure_curves(run, plan, shape, blocks));
  }
  run.leave_open(plan.prefix + name + "_bytes_per_cycle",
                 "the footprint has too few lines for so many threads");
}

/// Reports the plateau of the medians and the median rate on it in each order; without a plateau
/// the rate of all SMs.
void report_total(JobRun& run, const LevelPlan& plan, const Curves& curves,
                  const std::vector<double>& blocks) {
  const auto plateau = find_plateau(blocks, medians_by_place(curves));
  std::vector<std::vector<double>> of_order;
  for (const auto& curve : curves) {
    std::vector<double> rates;
    for (std::size_t i = 0; i < blocks.size(); ++i) {
      const bool counts = plateau ? blocks[i] >= *plateau : i + 1 == blocks.size();
      if (counts) rates.push_back(curve[i]);
    }
    of_order.push_back({median(std::move(rates))});
  }
  Finding total = found_replicated(plan.prefix + "bytes_per_cycle", Replicates{of_order});
  total.confidence = plan.confidence;
  run.report(std::move(total));
  const std::string metric = plan.prefix + "plateau_blocks";
  if (plateau) {
    run.report(metric, *plateau, curves.size() * blocks.size(), plan.confidence);
  } else {
    run.report(not_present(metric, "the rate rises with every block, up to all SMs"));
  }
}

void report_groups(JobRun& run, const LevelPlan& plan, const BlockShape& shape, double in_all) {
  const Replicates lone = measure_replicates(
      run, plan.prefix + "alone",
      [&](const Draw& draw) {
        return std::vector<double>{stream_rate(run, plan, shape, {draw.sm})};
      },
      lone_rule);
  Finding alone = found_replicated(plan.prefix + "sm_bytes_per_cycle", lone);
  alone.confidence = plan.confidence;
  const double alone_rate = std::get<double>(alone.value);
  const auto in_tpcs = rates_in_groups(run, plan, shape, "topology.tpc_of_sm");
  const auto in_gpcs = rates_in_groups(run, plan, shape, "topology.gpc_of_sm");
  run.report(std::move(alone));
  const auto report_rate = [&](const std::string& name, double rate) {
    const std::string metric = plan.prefix + name + "_bytes_per_cycle";
    run.report(std::isfinite(rate)
                   ? found(metric, rate, plan.confidence, 1)
                   : not_resolvable(metric, "the groups of SMs are not known (job topology)"));
  };
  report_rate("in_tpc", median(in_tpcs));
  report_rate("in_gpc", median(in_gpcs));
  report_rate("in_all", in_all);
  // An array that a part of a GPC shares makes GPCs differ: no group is named then.
  const auto bottleneck_by = [&](double fraction) {
    return find_bottleneck({.alone = alone_rate,
                            .in_tpc = quantile(in_tpcs, fraction),
                            .in_gpc = quantile(in_gpcs, fraction),
                            .in_all = in_all});
  };
  const auto scope = bottleneck_by(0) == bottleneck_by(1) ? bottleneck_by(0) : std::nullopt;
  const std::string metric = plan.prefix + "bottleneck";
  run.report(scope ? found(metric, std::string(*scope), 0.95 * plan.confidence, 4)
                   : not_resolvable(metric,
                                    "the rates of an SM alone, with its TPC, with its GPC and with "
                                    "all SMs show no limiting group"));
}

void measure_level(JobRun& run, const LevelPlan& plan, const std::vector<double>& blocks) {
  run.report(plan.prefix + "footprint_bytes", plan.footprint_bytes, 1, plan.confidence);
  report_paper_curve(run, plan, one_thread, "one_thread", blocks);
  report_paper_curve(run, plan, eight_threads, "eight_threads", blocks);
  report_paper_curve(run, plan, one_thread, "uneven", uneven_counts(run.info().sm_count));
  const auto best = find_best_shape(run, plan);
  if (!best) {
    return run.leave_open(plan.prefix,
                          "SMs hit lines that other SMs loaded into the cache before this one");
  }
  run.report(plan.prefix + "best_shape",
             fmt::format("{} warps x {} threads", best->warps, best->warp_threads), 1,
             plan.confidence);
  const Curves curves = measure_curves(run, plan, *best, blocks);
  report_curve(run, plan, "joint", curves);
  report_total(run, plan, curves, blocks);
  report_groups(run, plan, *best, medians_by_place(curves).back() / blocks.back());
}

}  // namespace

void run_constant_throughput(JobRun& run) {
  const std::vector<double> blocks = block_counts(run.info().sm_count);
  bool any = false;
  for (std::size_t level = 0; level < constant_levels.size(); ++level) {
    const std::string prefix = fmt::format("constant.{}.", constant_levels[level]);
    any |= measure_part(run, {prefix},
                        [&] { measure_level(run, plan_constant_level(run, level), blocks); });
  }
  if (!any) return run.leave_open("", "no constant cache could be streamed from");
  const std::vector<double> uneven = uneven_counts(run.info().sm_count);
  run.report("constant.blocks", blocks, blocks.size());
  run.report("constant.uneven_blocks", uneven, uneven.size());
}

}  // namespace sonde
