// Findings from health counters and conditions, and the likely cause of a deviation.
#include "analysis/fleet/conditions.hpp"

#include "analysis/fleet/value_text.hpp"
#include "analysis/statistics.hpp"
#include "base/error.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <set>

namespace sonde {
namespace {

FleetFinding health_finding(std::size_t index, const DeviceResult& device, Severity severity,
                            FaultClass fault, std::string metric, std::string value,
                            std::string reason) {
  return {.device = index,
          .node = device.node,
          .metric = std::move(metric),
          .severity = severity,
          .fault = fault,
          .value = std::move(value),
          .reason = std::move(reason)};
}

void add_error_findings(std::size_t index, const DeviceResult& device,
                        std::vector<FleetFinding>& findings) {
  const Health& before = device.before;
  const Health& after = device.after;
  const auto add = [&](Severity severity, const char* metric, std::uint64_t count,
                       const std::string& reason) {
    findings.push_back(health_finding(index, device, severity, FaultClass::ecc, metric,
                                      fmt::format("{}", count), reason));
  };
  if (after.ecc_uncorrected > before.ecc_uncorrected) {
    const std::uint64_t count = after.ecc_uncorrected - before.ecc_uncorrected;
    add(Severity::fail, "health.ecc_uncorrected", count,
        fmt::format("{} uncorrected memory errors while it was measured", count));
  } else if (before.ecc_uncorrected > 0) {
    add(Severity::warn, "health.ecc_uncorrected", before.ecc_uncorrected,
        fmt::format("{} uncorrected memory errors from before the run", before.ecc_uncorrected));
  }
  if (after.ecc_corrected > before.ecc_corrected) {
    const std::uint64_t count = after.ecc_corrected - before.ecc_corrected;
    add(Severity::warn, "health.ecc_corrected", count,
        fmt::format("{} corrected memory errors while it was measured", count));
  }
  if (before.remap_failure || after.remap_failure) {
    add(Severity::fail, "health.remap_failure", 1,
        "a memory row could not be remapped (no spare rows are left)");
  }
  if (before.remap_pending || after.remap_pending) {
    add(Severity::warn, "health.remap_pending", 1, "a memory row remap waits for a GPU reset");
  }
}

void add_condition_findings(std::size_t index, const DeviceResult& device,
                            const DeviceConditions& conditions,
                            std::vector<FleetFinding>& findings) {
  if (conditions.throttle_reasons != 0) {
    const bool thermal = (conditions.throttle_reasons & thermal_throttle_mask) != 0;
    const bool slowdown = (conditions.throttle_reasons & slowdown_throttle_mask) != 0;
    // A power cap under full load is how many sites run: worth a line, no verdict.
    const Severity severity = thermal || slowdown ? Severity::warn : Severity::info;
    const std::string reasons = throttle_text(conditions.throttle_reasons);
    findings.push_back(health_finding(
        index, device, severity, thermal ? FaultClass::thermal : FaultClass::power,
        "health.throttle_reasons", reasons,
        conditions.throttled_probes > 0
            ? fmt::format("throttled ({}) in {} of {} probes, up to {:.0f} C", reasons,
                          conditions.throttled_probes, conditions.probes, conditions.temperature_c)
            : fmt::format("throttled ({}) before or after the probes", reasons)));
  }
  if (device.info.foreign_processes > 0) {
    findings.push_back(health_finding(
        index, device, Severity::warn, FaultClass::contention, "health.foreign_processes",
        fmt::format("{}", device.info.foreign_processes),
        fmt::format("{} foreign processes were on this GPU: its numbers are not its own",
                    device.info.foreign_processes)));
  }
}

/// A link to the host that is less than slot and GPU can have together.
void add_link_findings(std::size_t index, const DeviceResult& device,
                       std::vector<FleetFinding>& findings) {
  const auto number = [&](const char* metric) {
    const Finding* finding = find_finding(device, metric);
    const double* value = finding == nullptr ? nullptr : std::get_if<double>(&finding->value);
    return value == nullptr ? 0 : *value;
  };
  const auto compare = [&](const char* now, const char* most, const char* metric,
                           const char* text) {
    if (!(number(now) > 0) || number(now) >= number(most)) return;
    FleetFinding finding = health_finding(
        index, device, Severity::warn, FaultClass::link, metric, fmt::format("{}", number(now)),
        fmt::format(fmt::runtime(text), number(now), number(most)));
    finding.reference = fmt::format("{}", number(most));
    findings.push_back(std::move(finding));
  };
  compare("host.link_width", "host.most_link_width", "health.link_width",
          "the link to the host has {} lanes where slot and GPU can have {}");
  compare("host.link_generation", "host.most_link_generation", "health.link_generation",
          "the link to the host is of generation {} where slot and GPU can have {}");
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
  std::map<std::size_t, std::size_t> votes;
  for (const auto& [node, gpus] : nodes) ++votes[gpus.size()];
  if (nodes.size() < 3) return 0;
  for (const auto& [count, supporters] : votes) {
    if (2 * supporters > nodes.size()) return count;
  }
  return 0;
}

}  // namespace

DeviceConditions summarize_conditions(const DeviceResult& device) {
  DeviceConditions conditions;
  std::vector<double> clocks_hz, starts_s;
  conditions.temperature_c =
      std::max({0.0, device.before.temperature_c, device.after.temperature_c});
  conditions.throttle_reasons =
      (device.before.throttle_reasons | device.after.throttle_reasons) & harmful_throttle_mask;
  for (const JobResult& job : device.jobs) {
    for (const ProbeRecord& probe : job.probes) {
      const Conditions& seen = probe.trace.conditions;
      ++conditions.probes;
      if (seen.start_unix_ns > 0)
        starts_s.push_back(1e-9 * static_cast<double>(seen.start_unix_ns));
      if (seen.sm_clock_hz > 0) clocks_hz.push_back(seen.sm_clock_hz);
      conditions.temperature_c = std::max(conditions.temperature_c, seen.temperature_c);
      const std::uint64_t reasons = seen.throttle_reasons & harmful_throttle_mask;
      conditions.throttle_reasons |= reasons;
      if (reasons != 0) ++conditions.throttled_probes;
    }
  }
  conditions.sm_clock_hz = clocks_hz.empty() ? device.after.sm_clock_hz : median(clocks_hz);
  if (!(conditions.sm_clock_hz > 0)) conditions.sm_clock_hz = 0;
  if (!starts_s.empty()) conditions.start_unix_s = median(starts_s);
  return conditions;
}

DeviceConditions centre_of_conditions(std::span<const DeviceConditions> repeats) {
  DeviceConditions centre = repeats.front();
  std::vector<double> clocks_hz;
  for (const DeviceConditions& one : repeats) {
    if (one.sm_clock_hz > 0) clocks_hz.push_back(one.sm_clock_hz);
    centre.temperature_c = std::max(centre.temperature_c, one.temperature_c);
    centre.throttle_reasons |= one.throttle_reasons;
    if (&one == &repeats.front()) continue;
    centre.probes += one.probes;
    centre.throttled_probes += one.throttled_probes;
  }
  if (!clocks_hz.empty()) centre.sm_clock_hz = median(clocks_hz);
  return centre;
}

std::string throttle_text(std::uint64_t reasons) {
  std::string text;
  const auto add = [&](std::uint64_t mask, const char* name) {
    if ((reasons & mask) != 0) text += fmt::format("{}{}", text.empty() ? "" : ", ", name);
  };
  add(thermal_throttle_mask, "thermal");
  add(power_throttle_mask, "power");
  add(slowdown_throttle_mask, "hardware slowdown");
  return text;
}

std::vector<DeviceConditions> conditions_of(const RunResult& run,
                                            std::span<const DeviceConditions> known) {
  if (!known.empty()) {
    require(known.size() == run.devices.size(), "conditions of other devices");
    return {known.begin(), known.end()};
  }
  std::vector<DeviceConditions> all;
  for (const DeviceResult& device : run.devices) all.push_back(summarize_conditions(device));
  return all;
}

std::vector<FleetFinding> link_findings(const RunResult& run) {
  std::vector<FleetFinding> findings;
  for (std::size_t index = 0; index < run.devices.size(); ++index) {
    add_link_findings(index, run.devices[index], findings);
  }
  return findings;
}

std::vector<FleetFinding> health_findings(const RunResult& run,
                                          const std::vector<DeviceConditions>& conditions) {
  std::vector<FleetFinding> findings;
  for (std::size_t index = 0; index < run.devices.size(); ++index) {
    add_error_findings(index, run.devices[index], findings);
    add_condition_findings(index, run.devices[index], conditions.at(index), findings);
  }
  return findings;
}

std::vector<FleetFinding> node_findings(const RunResult& run) {
  std::vector<FleetFinding> findings;
  const auto nodes = gpus_by_node(run);
  const std::size_t usual = usual_per_node(nodes);
  for (const auto& [node, gpus] : nodes) {
    if (gpus.size() >= usual) continue;
    findings.push_back({.node = node,
                        .metric = "health.gpus_on_node",
                        .severity = Severity::fail,
                        .fault = FaultClass::structure,
                        .value = fmt::format("{}", gpus.size()),
                        .reference = fmt::format("{}", usual),
                        .n = nodes.size(),
                        .reason = fmt::format("{} GPUs where most of the {} nodes have {}",
                                              gpus.size(), nodes.size(), usual)});
  }
  return findings;
}

std::size_t usual_device_count(const RunResult& run) {
  const auto nodes = gpus_by_node(run);
  return usual_per_node(nodes) * nodes.size();
}

FaultClass likely_fault(const FleetFinding& finding, const DeviceResult& device,
                        const DeviceConditions& conditions, double clock_deviation_fraction) {
  const bool in_cycles = finding.metric.ends_with("_cycles");  // a slower clock does not change it
  if (!in_cycles && clock_deviation_fraction < 0 &&
      2 * std::abs(clock_deviation_fraction) >= std::abs(finding.deviation_fraction)) {
    if ((conditions.throttle_reasons & thermal_throttle_mask) != 0) return FaultClass::thermal;
    if ((conditions.throttle_reasons & power_throttle_mask) != 0) return FaultClass::power;
    return FaultClass::clock;
  }
  if (finding.metric.starts_with("host.")) return FaultClass::link;
  if (device.info.foreign_processes > 0) return FaultClass::contention;
  for (const char* part : {"global.", "dram", "l2", "tlb", "peer"}) {
    if (finding.metric.find(part) != std::string::npos) return FaultClass::memory;
  }
  if (finding.metric.find("clock.sm_hz") != std::string::npos) return FaultClass::clock;
  for (const char* part : {"l1", "shared", "arithmetic", "control", "instruction", "constant"}) {
    if (finding.metric.find(part) != std::string::npos) return FaultClass::sm;
  }
  return FaultClass::unknown;
}

std::string cause_of(const FleetFinding& finding, const DeviceConditions& conditions,
                     double clock_deviation_fraction) {
  const std::string size = percent_text(finding.deviation_fraction);
  if (!finding.slices.empty()) {
    return fmt::format("slice {} of the L2 is {} slower than the others",
                       fmt::join(finding.slices, ", "), size);
  }
  if (!finding.sms.empty()) {
    return fmt::format("SM {} is {} slower than the others of this GPU",
                       fmt::join(finding.sms, ", "), size);
  }
  if (finding.n == 2) return "";
  const bool of_clock = finding.fault == FaultClass::clock ||
                        finding.fault == FaultClass::thermal || finding.fault == FaultClass::power;
  if (of_clock && clock_deviation_fraction < 0) {
    std::string text =
        fmt::format("SM clock {} below its peers'", percent_text(clock_deviation_fraction));
    if (conditions.temperature_c > 0) text += fmt::format(" at {:.0f} C", conditions.temperature_c);
    const std::string reasons = throttle_text(conditions.throttle_reasons);
    return reasons.empty() ? text : text + ", throttled: " + reasons;
  }
  const bool is_rate = finding.metric.ends_with("bytes_per_s");
  if (finding.fault == FaultClass::memory && is_rate && finding.deviation_fraction < 0) {
    return fmt::format("{} bandwidth {} low", finding.metric.starts_with("l2.") ? "L2" : "memory",
                       size);
  }
  if (finding.metric == "device.sm_count") {
    return fmt::format("{} SMs where its peers have {}", finding.value, finding.reference);
  }
  return "";
}

}  // namespace sonde
