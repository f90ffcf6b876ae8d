// The rules of alarms, and charges from health, heat and other processes.
#include "analysis/fleet/health.hpp"

#include "analysis/fleet/calibration.hpp"
#include "analysis/fleet/conditions.hpp"
#include "analysis/fleet/device_charges.hpp"
#include "analysis/fleet/value_text.hpp"
#include "analysis/statistics.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <set>

namespace sonde {
namespace {

constexpr std::array rules{
    AlarmRule{"device.throttle_reasons", "health.throttle_reasons"},
    AlarmRule{"device.ecc_corrected", "health.ecc_corrected"},
    AlarmRule{"device.ecc_uncorrected", "health.ecc_uncorrected"},
    AlarmRule{"device.remapped_rows", "health.remapped_rows"},
    AlarmRule{"device.remap_pending", "health.remap_pending"},
    AlarmRule{"device.remap_failure", "health.remap_failure"},
    AlarmRule{"device.pcie_replays", "host.new_pcie_replays"},
    AlarmRule{"device.nvlink_errors", "host.new_nvlink_errors"},
    AlarmRule{"device.xids", "host.xids"},
    AlarmRule{"host.pcie_replays", "host.new_pcie_replays"},
    AlarmRule{"host.new_pcie_replays", "host.new_pcie_replays"},
    AlarmRule{"host.nvlink_crc_errors", "host.new_nvlink_errors"},
    AlarmRule{"host.nvlink_replays", "host.new_nvlink_errors"},
    AlarmRule{"host.nvlink_recoveries", "host.new_nvlink_errors"},
    AlarmRule{"host.new_nvlink_errors", "host.new_nvlink_errors"},
    AlarmRule{"host.new_nvlink_errors_by_link", "host.new_nvlink_errors"},
    AlarmRule{"host.xids", "host.xids"},
    AlarmRule{"host.new_xids", "host.new_xids"},
    AlarmRule{"soak.throttle_reasons", "health.throttle_reasons"},
};

void judge_memory_errors(ChargesOfDevice& device) {
  using enum Trouble;
  const Health& before = device.result().before;
  const Health& after = device.result().after;
  const auto judge = [&](bool is_so, Severity severity, Trouble trouble, const char* metric,
                         std::uint64_t count, const char* text) {
    if (!is_so) return;
    device.add(severity, trouble, metric, fmt::format("{}", count),
               fmt::format(fmt::runtime(text), count));
  };
  const bool is_new = after.ecc_uncorrected > before.ecc_uncorrected;
  judge(is_new, Severity::fail, ecc_uncorrected, "health.ecc_uncorrected",
        after.ecc_uncorrected - before.ecc_uncorrected,
        "{} uncorrected memory errors while it was measured");
  judge(!is_new && before.ecc_uncorrected > 0, Severity::warn, ecc_uncorrected,
        "health.ecc_uncorrected", before.ecc_uncorrected,
        "{} uncorrected memory errors from before the run");
  judge(after.ecc_corrected > before.ecc_corrected, Severity::warn, ecc_corrected,
        "health.ecc_corrected", after.ecc_corrected - before.ecc_corrected,
        "{} corrected memory errors while it was measured");
  judge(before.remap_failure || after.remap_failure, Severity::fail, remap_failure,
        "health.remap_failure", 1, "a memory row could not be remapped (no spare rows are left)");
  judge(before.remap_pending || after.remap_pending, Severity::warn, remap_pending,
        "health.remap_pending", 1, "a memory row remap waits for a GPU reset");
}

void judge_throttling(ChargesOfDevice& device, const DeviceConditions& conditions) {
  if (conditions.throttle_reasons == 0) return;
  const bool thermal = (conditions.throttle_reasons & thermal_throttle_mask) != 0;
  const bool slowdown = (conditions.throttle_reasons & slowdown_throttle_mask) != 0;
  const std::string reasons = throttle_text(conditions.throttle_reasons);
  // A power cap under full load is how many sites run: worth a line, no verdict.
  device.add(
      thermal || slowdown ? Severity::warn : Severity::info,
      thermal ? Trouble::thermal : Trouble::power, "health.throttle_reasons", reasons,
      conditions.throttled_probes > 0
          ? fmt::format("throttled ({}) in {} of {} probes, up to {:.0f} C", reasons,
                        conditions.throttled_probes, conditions.probes, conditions.temperature_c)
          : fmt::format("throttled ({}) before or after the probes", reasons));
}

void judge_neighbours(ChargesOfDevice& device) {
  if (!is_contended(device.result())) return;
  const DeviceResult& result = device.result();
  const int most = std::max({result.info.foreign_processes, result.before.foreign_processes,
                             result.after.foreign_processes});
  Charge& charge = device.add(
      Severity::warn, Trouble::contention, "health.foreign_processes", fmt::format("{}", most),
      fmt::format(
          "{} process{} of others {} on this GPU while it was measured: its numbers are not "
          "its own, and it is not judged by them",
          most, most == 1 ? "" : "es", most == 1 ? "was" : "were"));
  charge.cause = "another process was on this GPU";
}

/// A total that stands still while a GPU is measured.
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

void compare_counts(const RunResult& run, const std::vector<std::size_t>& devices,
                    const Counter& counter, std::vector<Charge>& charges) {
  constexpr double least_factor = 10;  // an order of magnitude: errors come in bursts
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
    Charge& charge = ChargesOfDevice(run, devices[i], charges)
                         .add(Severity::warn, Trouble::ecc_corrected, counter.metric,
                              fmt::format("{:.0f}", counts[i]),
                              fmt::format("{:.0f} {} where its peers have {:g} (median), n={}",
                                          counts[i], counter.what, usual, counts.size()));
    charge.ground = Ground::peers;
    charge.reference = fmt::format("{:g}", usual);
    charge.n = counts.size();
  }
}

/// GPUs of each node, measured or not.
std::map<std::string, std::set<std::string>> gpus_by_node(const RunResult& run) {
  std::map<std::string, std::set<std::string>> nodes;
  for (const DeviceResult& device : run.devices) nodes[device.node].insert(device.info.uuid);
  for (const UnauditedDevice& device : run.unaudited) nodes[device.node].insert(device.uuid);
  return nodes;
}

/// The count that most nodes show; 0 on a tie or with fewer than three nodes.
std::size_t usual_per_node(const std::map<std::string, std::set<std::string>>& nodes) {
  if (nodes.size() < 3) return 0;
  std::vector<std::size_t> counts;
  for (const auto& [node, gpus] : nodes) counts.push_back(gpus.size());
  std::ranges::sort(counts);
  const std::size_t middle = counts[counts.size() / 2];
  return 2 * static_cast<std::size_t>(std::ranges::count(counts, middle)) > counts.size() ? middle
                                                                                          : 0;
}

}  // namespace

std::span<const AlarmRule> alarm_rules() { return rules; }

std::vector<Charge> health_charges(const RunResult& run,
                                   const std::vector<DeviceConditions>& conditions) {
  std::vector<Charge> charges;
  for (std::size_t index = 0; index < run.devices.size(); ++index) {
    ChargesOfDevice device{run, index, charges};
    judge_neighbours(device);
    judge_memory_errors(device);
    judge_throttling(device, conditions.at(index));
  }
  return charges;
}

std::vector<Charge> error_count_charges(const RunResult& run,
                                        const std::vector<ComparisonGroup>& groups) {
  std::vector<Charge> charges;
  for (const ComparisonGroup& group : groups) {
    if (group.devices.size() < least_group) continue;
    for (const Counter& counter : counters) compare_counts(run, group.devices, counter, charges);
  }
  return charges;
}

std::vector<Charge> node_charges(const RunResult& run) {
  std::vector<Charge> charges;
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
  return charges;
}

std::size_t usual_device_count(const RunResult& run) {
  const auto nodes = gpus_by_node(run);
  return usual_per_node(nodes) * nodes.size();
}

}  // namespace sonde
