// Lines for each point of a run.
#include "commands/describe_points.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstddef>

namespace sonde {
namespace {

/// " clock shared".
std::string names_of(const std::vector<const Job*>& jobs) {
  std::string names;
  for (const Job* job : jobs) names += fmt::format(" {}", job->name);
  return names;
}

}  // namespace

std::string describe_points(const RunPlan& plan) {
  const std::string first_jobs = fmt::format("jobs:{}\n", names_of(plan.points.front().jobs));
  if (!plan.is_sweep()) return first_jobs;
  std::size_t shown = plan.points.size();
  std::string text;
  if (plan.fills_budget()) {
    shown = plan.points_of_repeat();
    text = fmt::format(
        "{} point(s) in each repeat, repeats until the time budget of {} is over, {} at most; the "
        "first:\n",
        shown, plan.options.time_budget, plan.points.size() / shown);
  } else {
    text = fmt::format("{} points, one after the other on each GPU, {} jobs in all:\n", shown,
                       plan.jobs_total());
  }
  const bool same_jobs =
      std::all_of(plan.points.begin(), plan.points.begin() + static_cast<std::ptrdiff_t>(shown),
                  [&](const MeasurePlan& point) { return point.jobs == plan.points.front().jobs; });
  for (std::size_t i = 0; i < shown; ++i) {
    const MeasurePlan& point = plan.points[i];
    const std::string setting = describe_setting(plan.provenance, i);
    text += fmt::format("{:>4}  repeat {}  seed {}  {}{}{} jobs{}{}\n", i, point.repeat_index,
                        point.options.seed, setting, setting.empty() ? "" : "  ", point.jobs.size(),
                        same_jobs ? "" : ":", same_jobs ? "" : names_of(point.jobs));
  }
  return same_jobs ? text + first_jobs : text;
}

}  // namespace sonde
