// Charges from health, heat, other processes, failures of jobs and the number of GPUs.
#include "analysis/fleet/grounds/grounds.hpp"

#include "analysis/fleet/conditions.hpp"
#include "analysis/fleet/tolerance.hpp"
#include "analysis/statistics.hpp"
#include "base/failure_marks.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <set>

namespace sonde {
namespace {

void judge_memory_errors(const ChargedDevice& device) {
  const Health& before = device.result.before;
  const Health& after = device.result.after;
  const auto judge = [&](std::uint64_t count, Severity severity, Trouble trouble,
                         const std::string& text) {
    if (count == 0) return;
    device.add(severity, trouble, fmt::format("health.{}", key_of(trouble)),
               fmt::format("{}", count), fmt::format(fmt::runtime(text), count));
  };
  const auto rise = [&](std::uint64_t Health::*count) {
    return after.*count - std::min(after.*count, before.*count);
  };
  const std::uint64_t uncorrected = rise(&Health::ecc_uncorrected);
  judge(uncorrected, Severity::fail, Trouble::ecc_uncorrected,
        "{} uncorrected memory errors while it was measured");
  judge(uncorrected > 0 ? 0 : before.ecc_uncorrected, Severity::warn, Trouble::ecc_uncorrected,
        "{} uncorrected memory errors from before the run");
  judge(rise(&Health::ecc_corrected), Severity::warn, Trouble::ecc_corrected,
        "{} corrected memory errors while it was measured");
  judge(before.remap_failure || after.remap_failure, Severity::fail, Trouble::remap_failure,
        "a memory row could not be remapped (no spare rows are left)");
  judge(before.remap_pending || after.remap_pending, Severity::warn, Trouble::remap_pending,
        "a memory row remap waits for a GPU reset");
}

void judge_throttling(const ChargedDevice& device, const DeviceConditions& conditions) {
  if (conditions.throttle_reasons == 0) return;
  const bool thermal = (conditions.throttle_reasons & thermal_throttle_mask) != 0;
  const bool slowdown = (conditions.throttle_reasons & slowdown_throttle_mask) != 0;
  const std::string reasons = throttle_text(conditions.throttle_reasons);
  // Many sites run with a power cap under full load: this is a note, no verdict.
  device.add(
      thermal || slowdown ? Severity::warn : Severity::info,
      thermal ? Trouble::thermal : Trouble::power, "health.throttle_reasons", reasons,
      conditions.throttled_probes > 0
          ? fmt::format("throttled ({}) in {} of {} probes, up to {:.0f} C", reasons,
                        conditions.throttled_probes, conditions.probes, conditions.temperature_c)
          : fmt::format("throttled ({}) before or after the probes", reasons));
}

void judge_neighbours(const ChargedDevice& device) {
  const int most = foreign_processes(device.result);
  if (most <= 0) return;
  device
      .add(
          Severity::warn, Trouble::contention, "health.foreign_processes", fmt::format("{}", most),
          fmt::format(
              "{} other process{} ran on this GPU while it was measured: its values are not judged",
              most, most == 1 ? "" : "es"))
      .cause = "another process was on this GPU";
}

/// A total that does not change while a healthy GPU is measured.
struct Counter {
  const char* metric;
  const char* what;
  std::uint64_t Health::*count;
};
constexpr Counter counters[] = {
    {"health.ecc_corrected_total", "corrected memory errors since its driver was loaded",
     &Health::ecc_corrected},
    {"health.remapped_rows", "remapped memory rows", &Health::remapped_rows},
};

/// Warns each device with far more corrected memory errors (since its driver was loaded) or
/// remapped rows than its peers: at least ten times their median (ten if that is 0), and an outlier
/// of the group. Counts are compared as 2 sqrt(n + 3/8), with standard deviation 1 for any Poisson
/// rate (Anscombe 1948); a group that scatters more widens the limit.
void compare_counts(const RunResult& run, const std::vector<std::size_t>& devices,
                    const Counter& counter, std::vector<Charge>& charges) {
  constexpr double least_factor = 10;  // errors come in bursts
  std::vector<double> counts, stable;
  for (const std::size_t device : devices) {
    const DeviceResult& one = run.devices[device];
    counts.push_back(
        static_cast<double>(std::max(one.before.*counter.count, one.after.*counter.count)));
    stable.push_back(2 * std::sqrt(counts.back() + 3.0 / 8));
  }
  const double scale = std::max(1.0, normal_scale * median_absolute_deviation(stable));
  const double cut = median(stable) + score_limit(counts.size()) * scale;
  const double usual = median(counts);
  for (std::size_t i = 0; i < counts.size(); ++i) {
    if (stable[i] < cut || counts[i] < least_factor * std::max(1.0, usual)) continue;
    charges.push_back({.device = devices[i],
                       .ground = Ground::peers,
                       .severity = Severity::warn,
                       .trouble = Trouble::ecc_corrected,
                       .metric = counter.metric,
                       .value = fmt::format("{:.0f}", counts[i]),
                       .reference = fmt::format("{:g}", usual),
                       .n = counts.size(),
                       .reason = fmt::format("{:.0f} {} where its peers have {:g} (median), n={}",
                                             counts[i], counter.what, usual, counts.size())});
  }
}

using Nodes = std::map<std::string, std::set<std::string>>;

Nodes gpus_by_node(const RunResult& run) {
  Nodes nodes;
  for (const DeviceResult& device : run.devices) nodes[device.node].insert(device.info.uuid);
  for (const UnauditedDevice& device : run.unaudited) nodes[device.node].insert(device.uuid);
  return nodes;
}

/// The most frequent number; 0 without a majority, or for fewer than three nodes.
std::size_t usual_per_node(const Nodes& nodes) {
  if (nodes.size() < 3) return 0;
  std::map<std::size_t, std::size_t> votes;
  for (const auto& [node, gpus] : nodes) ++votes[gpus.size()];
  for (const auto& [count, n] : votes) {
    if (2 * n > nodes.size()) return count;
  }
  return 0;
}

/// Charges nodes that show fewer GPUs than most nodes.
void add_nodes(const RunResult& run, std::vector<Charge>& charges) {
  const auto nodes = gpus_by_node(run);
  const std::size_t usual = usual_per_node(nodes);
  for (const auto& [node, gpus] : nodes) {
    if (gpus.size() >= usual) continue;
    charges.push_back({.node = node,
                       .ground = Ground::peers,
                       .severity = Severity::fail,
                       .trouble = Trouble::fewer_gpus,
                       .metric = "health.gpus_on_node",
                       .value = fmt::format("{}", gpus.size()),
                       .reference = fmt::format("{}", usual),
                       .n = nodes.size(),
                       .reason = fmt::format("{} GPUs where most of the {} nodes have {}",
                                             gpus.size(), nodes.size(), usual)});
  }
}

constexpr std::pair<std::string_view, Trouble> failures[] = {
    {wrong_data_mark, Trouble::wrong_data},
    {hang_mark, Trouble::hang},
    {sticky_error_mark, Trouble::sticky_error},
};

bool says(Status status, const std::string& reason, std::string_view mark) {
  return is_missing(status) && reason.find(mark) != std::string::npos;
}

/// Jobs with this failure, in themselves or in a finding, and the reason of the first.
struct Seen {
  std::vector<std::string> jobs;
  std::string reason;
};

Seen look_for(const DeviceResult& device, std::string_view mark) {
  Seen seen;
  const auto look_at = [&](const std::string& job, Status status, const std::string& reason) {
    if (!says(status, reason, mark)) return;
    if (seen.jobs.empty()) seen.reason = reason;
    if (std::ranges::find(seen.jobs, job) == seen.jobs.end()) seen.jobs.push_back(job);
  };
  for (const auto* jobs : {&device.jobs, &device.again}) {
    for (const JobResult& job : *jobs) {
      look_at(job.job, job.status, job.reason);
      for (const Finding& one : job.findings) look_at(job.job, one.status, one.reason);
    }
  }
  return seen;
}

/// From the reasons of failed jobs and findings, second tries included: at most one charge per
/// failure and device, and a note if most GPUs show it.
void add_failures(const RunResult& run, std::vector<Charge>& charges) {
  std::set<std::string_view> gpus;
  for (const DeviceResult& device : run.devices) gpus.insert(device.info.uuid);
  for (const auto& [mark, trouble] : failures) {
    const std::string metric = fmt::format("health.{}", key_of(trouble));
    std::set<std::string_view> failed;
    for (std::size_t device = 0; device < run.devices.size(); ++device) {
      const Seen seen = look_for(run.devices[device], mark);
      if (seen.jobs.empty()) continue;
      failed.insert(run.devices[device].info.uuid);
      const std::string jobs = fmt::format("{}", fmt::join(seen.jobs, ", "));
      ChargedDevice{run.devices[device], device, charges}.add(
          Severity::fail, trouble, metric, jobs, fmt::format("in {}: {}", jobs, seen.reason));
    }
    if (gpus.size() < 3 || 2 * failed.size() <= gpus.size()) continue;
    charges.push_back({.ground = Ground::itself,
                       .trouble = trouble,
                       .metric = metric,
                       .n = gpus.size(),
                       .reason = fmt::format("{} of {} GPUs show it: look at program and driver "
                                             "before you replace GPUs",
                                             failed.size(), gpus.size())});
  }
}

}  // namespace

void judge_health(const RunResult& run, const std::vector<DeviceConditions>& conditions,
                  FleetAnalysis& analysis) {
  for (std::size_t index = 0; index < run.devices.size(); ++index) {
    const ChargedDevice device{run.devices[index], index, analysis.charges};
    judge_neighbours(device);
    judge_memory_errors(device);
    judge_throttling(device, conditions.at(index));
  }
  for (const ComparisonGroup& group : analysis.groups) {
    if (group.devices.size() < least_group) continue;
    for (const Counter& counter : counters) {
      compare_counts(run, group.devices, counter, analysis.charges);
    }
  }
  add_failures(run, analysis.charges);
  add_nodes(run, analysis.charges);
}

std::size_t usual_device_count(const RunResult& run) {
  const auto nodes = gpus_by_node(run);
  return usual_per_node(nodes) * nodes.size();
}

std::string gone_reason(const DeviceResult& device) {
  if (says(Status::failed, device.reason, gone_mark)) return device.reason;
  return look_for(device, gone_mark).reason;
}

}  // namespace sonde
