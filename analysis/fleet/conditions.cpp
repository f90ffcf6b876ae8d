// Clock, temperature and throttling of a device over its probes; causes and headlines.
#include "analysis/fleet/conditions.hpp"

#include "analysis/fleet/value_text.hpp"
#include "analysis/statistics.hpp"
#include "base/units.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <iterator>
#include <utility>

namespace sonde {
namespace {

/// The part that a metric measures, by a part of its name; the first match counts.
constexpr std::pair<std::string_view, Trouble> measured_parts[] = {
    {"host.", Trouble::host_rate},
    {"peer.", Trouble::peer_rate},
    {"sm_clock_hz", Trouble::clock},
    {"clock.", Trouble::clock},
    {"global.", Trouble::memory_rate},
    {"dram", Trouble::memory_rate},
    {"l2", Trouble::memory_rate},
    {"tlb", Trouble::memory_rate},
    {"l1", Trouble::sm},
    {"shared", Trouble::sm},
    {"arithmetic", Trouble::sm},
    {"control", Trouble::sm},
    {"instruction", Trouble::sm},
    {"constant", Trouble::sm},
};

std::string clock_headline(const DeviceConditions& conditions, double clock_deviation_fraction) {
  std::string text =
      fmt::format("SM clock {} below its peers'", percent_text(clock_deviation_fraction));
  if (conditions.temperature_c > 0) text += fmt::format(" at {:.0f} C", conditions.temperature_c);
  const std::string reasons = throttle_text(conditions.throttle_reasons);
  return reasons.empty() ? text : text + ", throttled: " + reasons;
}

/// The headline of a charge: "memory bandwidth 7 % low"; "" if it would repeat metric and reason.
std::string headline_of(const Charge& charge, const DeviceConditions& conditions,
                        double clock_deviation_fraction) {
  if (!charge.cause.empty()) return charge.cause;
  const std::string size = percent_text(charge.size);
  const bool of_slice = charge.trouble == Trouble::slice;
  if (charge.unit.is_named() && (of_slice || charge.trouble == Trouble::sm)) {
    return fmt::format("{}{} is {} slower than the others{}", to_text(charge.unit),
                       of_slice ? " of the L2" : "", size, of_slice ? "" : " of this GPU");
  }
  if (charge.undecided) return "";
  if (is_of_clock(charge.trouble) && clock_deviation_fraction < 0) {
    return clock_headline(conditions, clock_deviation_fraction);
  }
  if (charge.trouble == Trouble::memory_rate && charge.size < 0 &&
      (charge.metric.ends_with("bytes_per_s") || charge.metric == "global.efficiency")) {
    return fmt::format("{} bandwidth {} low", charge.metric.starts_with("l2.") ? "L2" : "memory",
                       size);
  }
  if (charge.metric == "global.loaded_latency_ns") {
    return fmt::format("latency of memory under load {} high", size);
  }
  if (charge.metric == "device.sm_count") {
    return fmt::format("{} SMs where its peers have {}", charge.value, charge.reference);
  }
  return "";
}

std::string conditions_text(const DeviceConditions& conditions, double clock_deviation) {
  std::vector<std::string> parts;
  if (conditions.sm_clock_hz > 0) {
    parts.push_back("SM clock " + format_quantity(conditions.sm_clock_hz, "Hz"));
    if (!(std::abs(clock_deviation) < 0.005)) {
      parts.back() += fmt::format(" ({} peers)", side_text(clock_deviation));
    }
  }
  if (conditions.temperature_c > 0) {
    parts.push_back(fmt::format("{:.0f} C", conditions.temperature_c));
  }
  parts.push_back(conditions.throttle_reasons == 0
                      ? "not throttled"
                      : "throttled: " + throttle_text(conditions.throttle_reasons));
  return fmt::format("{}", fmt::join(parts, ", "));
}

}  // namespace

DeviceConditions summarize_conditions(const DeviceResult& device) {
  DeviceConditions conditions;
  std::vector<double> clocks_hz, starts_s;
  /// @returns true if it was throttled
  const auto add = [&conditions](const auto& seen) {
    const std::uint64_t reasons = seen.throttle_reasons & harmful_throttle_mask;
    conditions.throttle_reasons |= reasons;
    conditions.temperature_c = std::max(conditions.temperature_c, seen.temperature_c);
    return reasons != 0;
  };
  add(device.before);
  add(device.after);
  for (const JobResult& job : device.jobs) {
    for (const ProbeRecord& probe : job.probes) {
      const Conditions& seen = probe.trace.conditions;
      ++conditions.probes;
      conditions.throttled_probes += add(seen) ? 1 : 0;
      if (seen.sm_clock_hz > 0) clocks_hz.push_back(seen.sm_clock_hz);
      if (seen.start_unix_ns > 0) {
        starts_s.push_back(1e-9 * static_cast<double>(seen.start_unix_ns));
      }
    }
  }
  conditions.sm_clock_hz = clocks_hz.empty() ? device.after.sm_clock_hz : median(clocks_hz);
  if (!(conditions.sm_clock_hz > 0)) conditions.sm_clock_hz = 0;
  if (!starts_s.empty()) conditions.start_unix_s = median(starts_s);
  return conditions;
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

std::vector<DeviceConditions> conditions_of(const RunResult& run) {
  std::vector<DeviceConditions> all;
  for (const DeviceResult& device : run.devices) all.push_back(summarize_conditions(device));
  return all;
}

int foreign_processes(const DeviceResult& device) {
  return std::max({device.info.foreign_processes, device.before.foreign_processes,
                   device.after.foreign_processes});
}

Trouble likely_trouble(const Charge& charge, const DeviceConditions& conditions,
                       double clock_deviation_fraction) {
  const bool in_cycles = charge.metric.ends_with("_cycles");  // a slower clock does not change it
  if (!in_cycles && clock_deviation_fraction < 0 &&
      2 * std::abs(clock_deviation_fraction) >= std::abs(charge.size)) {
    if ((conditions.throttle_reasons & thermal_throttle_mask) != 0) return Trouble::thermal;
    if ((conditions.throttle_reasons & power_throttle_mask) != 0) return Trouble::power;
    return Trouble::clock;
  }
  const auto part = std::ranges::find_if(measured_parts, [&](const auto& one) {
    return charge.metric.find(one.first) != std::string::npos;
  });
  return part == std::end(measured_parts) ? Trouble::unknown : part->second;
}

void add_causes(const RunResult& run, const std::vector<DeviceConditions>& all,
                const std::map<std::size_t, double>& clock_deviations,
                std::vector<Charge>& charges) {
  for (Charge& charge : charges) {
    if (charge.device == Charge::no_device || !charge.weighs()) continue;
    const auto found = clock_deviations.find(charge.device);
    const double clock_deviation = found == clock_deviations.end() ? 0 : found->second;
    const DeviceConditions& conditions = all[charge.device];
    if (charge.trouble == Trouble::unknown) {
      charge.trouble = likely_trouble(charge, conditions, clock_deviation);
    }
    charge.cause = headline_of(charge, conditions, clock_deviation);
    charge.evidence +=
        (charge.evidence.empty() ? "" : "; ") + conditions_text(conditions, clock_deviation);
    const std::string setting =
        describe_setting(run.provenance, run.devices[charge.device].point_index);
    if (!setting.empty()) charge.evidence += "; with " + setting;
  }
}

}  // namespace sonde
