#include "commands/measure/run_plan.hpp"

#include "base/stop_signal.hpp"

#include <algorithm>

namespace sonde {

int RunPlan::jobs_total() const {
  return points.back().jobs_before + static_cast<int>(points.back().jobs.size());
}

std::size_t RunPlan::points_of_repeat() const {
  return static_cast<std::size_t>(std::ranges::count(points, 0U, &MeasurePlan::repeat_index));
}

JobSettings MeasurePlan::settings_of(const Job& job) const {
  const auto own = settings.find(std::string(job.name));
  return own == settings.end() ? JobSettings{} : own->second;
}

std::string why_to_stop(const MeasurePlan& plan) {
  if (stop_requested()) return "stopped by a signal";
  const bool is_over = plan.end && std::chrono::steady_clock::now() > *plan.end;
  return is_over ? "the time budget is over" : "";
}

bool MeasurePlan::is_on_some_sms(const Job& job) const {
  const bool is_named = std::ranges::find(options.jobs, job.name) != options.jobs.end();
  return !sms.empty() && (options.jobs.empty() || is_named);
}

}  // namespace sonde
