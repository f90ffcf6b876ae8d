// Clocks, temperature and throttling of a device over its probes.
#include "analysis/fleet/conditions.hpp"

#include "analysis/statistics.hpp"
#include "base/error.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace sonde {

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

bool is_contended(const DeviceResult& device) {
  return std::max({device.info.foreign_processes, device.before.foreign_processes,
                   device.after.foreign_processes}) > 0;
}

}  // namespace sonde
