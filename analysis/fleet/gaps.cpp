// One entry for each job, status and reason.
#include "analysis/fleet/gaps.hpp"

#include <algorithm>

namespace sonde {
namespace {

template <class T>
void insert_sorted(std::vector<T>& all, const T& one) {
  const auto place = std::ranges::lower_bound(all, one);
  if (place == all.end() || *place != one) all.insert(place, one);
}

}  // namespace

void add_gaps(const RunResult& run, std::string_view only, Gaps& gaps) {
  for (std::size_t device = 0; device < run.devices.size(); ++device) {
    for (const JobResult& job : run.devices[device].jobs) {
      if (!only.empty() && job.job != only) continue;
      const auto add_if_gap = [&](Status status, const std::string& reason,
                                  const std::string& metric) {
        if (status == Status::ok) return;
        const std::tuple key{std::string_view(job.job), to_text(status), std::string_view(reason)};
        auto gap = gaps.find(key);
        if (gap == gaps.end()) {
          gap = gaps.try_emplace({job.job, std::string(to_text(status)), reason}).first;
          gap->second = {job.job, std::string(to_text(status)), reason, {}, {}};
        }
        insert_sorted(gap->second.metrics, metric);
        insert_sorted(gap->second.devices, device);
      };
      add_if_gap(job.status, job.reason, "(the job)");
      for (const Finding& finding : job.findings) {
        add_if_gap(finding.status, finding.reason, finding.metric);
      }
    }
  }
}

}  // namespace sonde
