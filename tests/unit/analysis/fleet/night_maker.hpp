// A GPU or some, measured again and again through a night, to plant a drift in.
#pragma once

#include "fleet_maker.hpp"

#include <functional>

namespace sonde::maker {

struct Night {
  RunResult run;  // with each repeat in a row of its own
  std::vector<DeviceConditions> conditions;
};

inline constexpr double hour_s = 3600;

/// Repeats of healthy devices, half an hour apart: throughput scatters by `scatter` (a fraction)
/// from repeat to repeat.
/// @param spoil called with each row, its conditions and the share of the night that is over
inline Night night(std::size_t devices, std::size_t repeats, double scatter, std::uint64_t seed,
                   const std::function<void(DeviceResult&, DeviceConditions&, double)>& spoil) {
  Night night;
  Random random(seed);
  const RunResult fleet = healthy_fleet(devices, seed);
  night.run.provenance = fleet.provenance;
  for (std::size_t repeat = 0; repeat < repeats; ++repeat) {
    night.run.provenance.points.push_back({.config_hash = fmt::format("{}", repeat),
                                           .config_json = "{}",
                                           .seed = seed,
                                           .repeat_index = repeat});
    for (DeviceResult device : fleet.devices) {
      device.point_index = repeat;
      for (const char* metric : {"global.read_bytes_per_s", "global.write_bytes_per_s"}) {
        double& value = std::get<double>(finding_of(device, metric).value);
        value *= 1 + scatter * gauss(random);
      }
      DeviceConditions at{.sm_clock_hz = 1.98e9,
                          .temperature_c = 61,
                          .start_unix_s = 1.7e9 + 0.5 * hour_s * static_cast<double>(repeat)};
      spoil(device, at, static_cast<double>(repeat) / static_cast<double>(repeats - 1));
      night.run.devices.push_back(std::move(device));
      night.conditions.push_back(at);
    }
  }
  return night;
}

inline double& number(DeviceResult& device, std::string_view metric) {
  return std::get<double>(finding_of(device, metric).value);
}

}  // namespace sonde::maker
