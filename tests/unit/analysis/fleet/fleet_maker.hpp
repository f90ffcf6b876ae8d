// Healthy fleets from a seed, as a run would leave them, to plant defects in.
#pragma once

#include "analysis/fleet/fleet.hpp"
#include "base/random.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <numbers>
#include <string>
#include <utility>
#include <vector>

namespace sonde::maker {

using enum MetricKind;
using enum Better;

/// A registry of its own: the tests stay put when metrics are added.
inline constexpr std::array registry{
    Metric{"device.sm_count", "1", structural, higher, "device", "multiprocessors", "driver"},
    Metric{"topology.gpc_count", "1", structural, neither, "placement", "GPCs seen", "-"},
    Metric{"cache.l1.size_bytes", "byte", capacity, higher, "cache.l1", "capacity", "-"},
    Metric{"cache.l1.replacement", "", structural, neither, "cache.l1", "policy", "-"},
    Metric{"cache.l2.size_bytes", "byte", capacity, higher, "cache.l2", "capacity", "-"},
    Metric{"latency.l1_cycles", "cycle", continuous, lower, "latency", "L1 hit", "-"},
    Metric{"latency.dram_cycles", "cycle", continuous, lower, "latency", "memory", "-"},
    Metric{"latency.fit_r2", "1", continuous, neither, "latency", "fit", "-"},
    Metric{"latency.staircase_bytes", "byte", fingerprint, neither, "latency", "footprints", "-"},
    Metric{"latency.staircase_cycles", "cycle", fingerprint, neither, "latency", "cycles", "-"},
    Metric{"global.read_bytes_per_s", "byte/s", continuous, higher, "global.throughput", "read",
           "-"},
    Metric{"global.write_bytes_per_s", "byte/s", continuous, higher, "global.throughput", "write",
           "-"},
    Metric{"topology.tpc_of_sm", "1", fingerprint, neither, "placement", "TPC by SM", "-"},
    Metric{"topology.gpc_of_sm", "1", fingerprint, neither, "placement", "GPC by SM", "-"},
    Metric{"placement.l1_latency_cycles", "cycle", fingerprint, lower, "placement", "L1 by SM",
           "-"},
    Metric{"placement.l2_latency_cycles", "cycle", fingerprint, lower, "placement", "L2 by SM",
           "-"},
};

/// The same with these tolerances for all metrics.
inline std::vector<Metric> registry_with(double warn, double fail) {
  std::vector<Metric> metrics(registry.begin(), registry.end());
  for (Metric& metric : metrics) {
    metric.warn = warn;
    metric.fail = fail;
  }
  return metrics;
}
/// The same without comparisons by this metric.
inline std::vector<Metric> registry_without(std::string_view name) {
  std::vector<Metric> metrics(registry.begin(), registry.end());
  std::ranges::find(metrics, name, &Metric::name)->not_compared = "why";
  return metrics;
}

inline constexpr const char* read = "global.read_bytes_per_s";
inline constexpr const char* dram = "latency.dram_cycles";

/// @param metrics must outlive what is made with the options
inline ReduceOptions options(std::span<const Metric> metrics = registry) {
  ReduceOptions some;
  some.registry = metrics;
  some.references = {};  // values of these fleets are made up
  return some;
}

inline double gauss(Random& random) {  // Box and Muller 1958
  const double radius = std::sqrt(-2 * std::log(1 - random.unit()));
  return radius * std::cos(2 * std::numbers::pi * random.unit());
}

inline JobResult job(std::string name, std::vector<Finding> findings) {
  JobResult result;
  result.job = std::move(name);
  result.status = Status::ok;
  result.findings = std::move(findings);
  return result;
}

inline constexpr std::size_t sm_count = 132;

/// How far healthy devices lie apart.
struct Scatter {
  double most_deviations = 100;  // no value lies further out
  double gpc_cycles = 16;        // between the nearest and the farthest GPC of a die
};

/// Each die has its own GPCs and its own offsets, as floor-swept dies have.
inline JobResult placement_job(Random& random, const Scatter& scatter) {
  std::vector<double> gpcs;
  for (std::size_t tpc = 0; tpc < sm_count / 2; ++tpc) gpcs.push_back(static_cast<double>(tpc % 8));
  shuffle(gpcs, random);
  std::array<double, 8> gpc_offset_cycles{};
  for (double& offset : gpc_offset_cycles) offset = scatter.gpc_cycles * random.unit();
  std::vector<double> tpc_of_sm, gpc_of_sm, l1_cycles, l2_cycles;
  for (std::size_t sm = 0; sm < sm_count; ++sm) {
    const std::size_t tpc = sm / 2;
    const double gpc = gpcs[tpc];
    tpc_of_sm.push_back(static_cast<double>(tpc));
    gpc_of_sm.push_back(gpc);
    l1_cycles.push_back(36 + static_cast<double>(random.below(2)));
    l2_cycles.push_back(
        std::round(280 + gpc_offset_cycles[static_cast<std::size_t>(gpc)] + gauss(random)));
  }
  return job("placement", {found("topology.gpc_count", 8.0, 1, 132),
                           found("topology.tpc_of_sm", tpc_of_sm, 1, 132),
                           found("topology.gpc_of_sm", gpc_of_sm, 1, 132),
                           found("placement.l1_latency_cycles", l1_cycles, 1, 64, 0.5),
                           found("placement.l2_latency_cycles", l2_cycles, 1, 64, 2)});
}

/// Devices scatter by 0.5 % (between healthy H200s), their repeats by 0.1 %.
inline DeviceResult healthy_device(std::size_t index, std::uint64_t seed,
                                   const Scatter& scatter = {}) {
  Random random(derive_seed(seed, fmt::format("device {}", index)));
  DeviceResult device;
  device.info.uuid =
      fmt::format("GPU-{:08x}-0000-0000-0000-{:012x}", mix_bits(seed + index) >> 32, index);
  device.info.name = "NVIDIA H200";
  device.info.serial = fmt::format("16540{:05}", index);
  device.info.pci_bus_id = fmt::format("00000000:{:02X}:00.0", 0x18 + 8 * (index % 4));
  device.info.driver_version = "550.54.15";
  device.info.memory_bytes = 150754820096;
  device.info.sm_count = sm_count;
  device.info.ecc = true;
  device.node = fmt::format("node{:02}", index / 4 + 1);
  device.rank = static_cast<int>(index);
  device.status = DeviceOutcome::complete;
  device.before.temperature_c = 35;
  device.after.temperature_c = 58;
  device.after.sm_clock_hz = 1.98e9;
  const auto near_value = [&](double value) {
    return value * (1 + 0.005 * std::clamp(gauss(random), -scatter.most_deviations,
                                           scatter.most_deviations));
  };
  const auto throughput = [&](const char* metric, double value) {
    const double measured = near_value(value);
    return found(metric, measured, 0.98, 9, 0.001 * measured);
  };
  std::vector<double> bytes, cycles;
  for (double size = 4096; size <= 1.1 * (1ULL << 30); size *= 2) {
    bytes.push_back(size);
    cycles.push_back(std::round(size <= 196608 ? 36 : size <= 32e6 ? 284 : near_value(640)));
  }
  device.jobs = {
      job("device", {found("device.sm_count", 132.0, 1, 1)}),
      job("latency",
          {found("latency.l1_cycles", 36.0 + static_cast<double>(random.below(2)), 0.99, 512, 0.5),
           found("latency.dram_cycles", std::round(near_value(640)), 0.95, 512, 8),
           found("latency.fit_r2", 0.99 - 0.01 * random.unit(), 0.9, 40),
           found("latency.staircase_bytes", bytes, 1, 19),
           found("latency.staircase_cycles", cycles, 1, 19)}),
      job("cache.l1", {found("cache.l1.size_bytes", 196608.0, 0.99, 4000),
                       found("cache.l1.replacement", std::string("lru"), 0.95, 4000)}),
      job("cache.l2", {found("cache.l2.size_bytes", 62914560.0, 0.95, 900)}),
      job("global.throughput", {throughput("global.read_bytes_per_s", 4.52e12),
                                throughput("global.write_bytes_per_s", 4.1e12)}),
      placement_job(random, scatter)};
  return device;
}

inline RunResult healthy_fleet(std::size_t devices, std::uint64_t seed,
                               const Scatter& scatter = {}) {
  RunResult run;
  run.provenance.sonde_version = "0.1.0";
  run.provenance.started_utc = "2025-11-21T02:14:07Z";
  run.provenance.config_hash = "3f9ab2c1d0e4f5a6";
  run.provenance.slurm_job_id = "4711";
  run.provenance.seed = seed;
  run.provenance.world_size = static_cast<int>(devices);
  for (std::size_t i = 0; i < devices; ++i) {
    run.devices.push_back(healthy_device(i, seed, scatter));
  }
  return run;
}

/// The fleet measured at each of these values of the axes, setting after setting.
inline RunResult sweep_of(RunResult run, const std::vector<Axis>& axes,
                          const std::vector<std::vector<std::string>>& settings) {
  const std::vector<DeviceResult> devices = std::exchange(run.devices, {});
  run.provenance.axes = axes;
  for (const std::vector<std::string>& at : settings) {
    for (DeviceResult device : devices) {
      device.point_index = run.provenance.points.size();
      run.devices.push_back(std::move(device));
    }
    run.provenance.points.push_back(
        {.config_hash = at.empty() ? "" : at.front(), .config_json = "{}", .at = at});
  }
  return run;
}

/// The finding itself, to be spoiled. @pre the device has it
inline Finding& finding_of(DeviceResult& device, std::string_view metric) {
  return *const_cast<Finding*>(find_finding(device, metric));
}

inline void scale_finding(DeviceResult& device, std::string_view metric, double factor) {
  Value& value = finding_of(device, metric).value;
  value = std::get<double>(value) * factor;
}

/// "pfww": each device by the first letter of its verdict.
inline std::string verdicts_of(const FleetAnalysis& analysis) {
  std::string letters;
  for (const DeviceVerdict& one : analysis.verdicts) letters += to_text(one.verdict).front();
  return letters;
}

inline void slow_sm(DeviceResult& device, std::string_view map, std::size_t sm, double cycles) {
  std::get<std::vector<double>>(finding_of(device, map).value)[sm] += cycles;
}

}  // namespace sonde::maker
