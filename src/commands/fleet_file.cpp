// Reads devices in blocks, since assembling rows takes as much memory again. Of a large fleet, only
// the findings that are shown are kept.
#include "commands/fleet_file.hpp"

#include "analysis/fleet/conditions.hpp"
#include "analysis/fleet/grounds/grounds.hpp"
#include "analysis/fleet/verdict/reduce.hpp"
#include "base/log.hpp"
#include "store/run_reader.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <set>
#include <utility>

namespace sonde {
namespace {

// A report of more devices would be too large to open: 15 kB for each. (In memory a device of the
// standard suite takes 0.35 MB, so 10,000 take 3.5 GB.)
constexpr std::size_t most_whole_devices = 256;
// Findings or probes that are read together: 1 kB each while they are assembled. With smaller
// blocks, the same chunks (of up to 65,536 rows) are unpacked again and again.
constexpr std::uint64_t block_rows = 100'000;
// Large fleets: passing devices that are kept whole, and metrics that are kept for every device.
constexpr std::size_t example_devices = 8;
constexpr std::size_t most_kept_metrics = 24;

using Blocks = std::vector<RowRange>;

/// @param rows the total number of rows of all devices
Blocks blocks_of(std::uint64_t devices, std::uint64_t rows) {
  Blocks blocks;
  const std::uint64_t length =
      std::max<std::uint64_t>(1, block_rows * devices / std::max<std::uint64_t>(1, rows));
  for (std::uint64_t first = 0; first < devices; first += length) {
    blocks.push_back({first, std::min(length, devices - first)});
  }
  return blocks;
}

/// The conditions (clocks, heat and the like) of each device; empty if the file has no probes.
std::vector<DeviceConditions> read_conditions(const RunReader& reader) {
  std::vector<DeviceConditions> conditions;
  const std::uint64_t probes = reader.count_probes();
  const std::uint64_t devices = reader.device_count();
  if (probes == 0) return conditions;
  for (const RowRange block : blocks_of(devices, probes)) {
    for (const DeviceResult& device : reader.read_devices(block, Depth::probes)) {
      conditions.push_back(summarize_conditions(device));
    }
  }
  return conditions;
}

/// For a large fleet: keeps all findings of flagged devices and of some examples that pass. The
/// other devices keep missing findings, the topology (for names of units) and metrics with charges.
void keep_shown_findings(const FleetAnalysis& analysis, RunResult& run) {
  std::set<std::string, std::less<>> metrics;
  for (const Charge& charge : analysis.charges) {
    if (metrics.size() == most_kept_metrics) break;
    if (charge.severity != Severity::info) metrics.insert(std::string(charge.base_metric()));
  }
  std::size_t examples = 0;
  for (std::size_t i = 0; i < run.devices.size(); ++i) {
    const Verdict verdict = analysis.verdicts[i].verdict;
    const bool flagged = verdict == Verdict::warn || verdict == Verdict::fail;
    if (flagged || ++examples <= example_devices) continue;
    for (JobResult& job : run.devices[i].jobs) {
      if (job.job == "topology") continue;
      std::erase_if(job.findings, [&](const Finding& one) {
        return !is_missing(one.status) && !metrics.contains(one.metric);
      });
    }
  }
}

/// Calls `take` for all devices in the order of the file. Only one block is in memory at a time.
void for_each_device(const RunReader& reader, Depth depth,
                     const std::function<void(std::size_t, DeviceResult)>& take) {
  std::size_t index = 0;
  for (const RowRange block : blocks_of(reader.device_count(), reader.count_findings())) {
    for (DeviceResult& device : reader.read_devices(block, depth)) take(index++, std::move(device));
  }
}

/// The whole run; with its probes if they are wanted and the devices are few.
RunResult read_rows(const RunReader& reader, Depth depth) {
  // A device of the standard suite has some ten thousand probes.
  constexpr std::size_t most_devices_with_probes = 64;
  if (reader.device_count() > most_devices_with_probes) depth = Depth::findings;
  RunResult run{
      .provenance = reader.provenance(), .devices = {}, .unaudited = reader.read_unaudited()};
  for_each_device(reader, depth, [&run](std::size_t, DeviceResult device) {
    run.devices.push_back(std::move(device));
  });
  return run;
}

/// Merges repeats into their centre. Conditions and drifts are computed over all repeats.
Fleet read_points(const RunReader& reader, Depth depth, std::span<const Metric> registry) {
  RunResult run = read_rows(reader, depth);
  const std::vector<DeviceConditions> conditions = conditions_of(run, read_conditions(reader));
  const std::vector<DeviceConditions> centres = centre_of_conditions(run, conditions);
  const std::vector<Charge> drifts = drift_charges(run, conditions, registry);
  Fleet fleet;
  fleet.run = centre_of_repeats(std::move(run));
  fleet.analysis =
      reduce_fleet(fleet.run, {.registry = registry, .conditions = centres, .drifts = drifts});
  return fleet;
}

bool has_points(const RunReader& reader) { return reader.provenance().points.size() > 1; }

Fleet read_alone(const std::filesystem::path& path, Depth depth, std::span<const Metric> registry) {
  const RunReader reader(path);
  if (has_points(reader)) return read_points(reader, depth, registry);
  const std::vector<DeviceConditions> conditions = read_conditions(reader);
  Fleet fleet;
  fleet.run = read_rows(reader, depth);
  fleet.analysis = reduce_fleet(fleet.run, {.registry = registry, .conditions = conditions});
  if (fleet.run.devices.size() > most_whole_devices) keep_shown_findings(fleet.analysis, fleet.run);
  return fleet;
}

}  // namespace

RunComparison compare_files(const std::filesystem::path& before, const std::filesystem::path& after,
                            std::span<const Metric> registry) {
  return compare_runs(centre_of_repeats(read_run(before, Depth::probes)),
                      centre_of_repeats(read_run(after, Depth::probes)), registry);
}

Fleet read_fleet(const std::filesystem::path& path, const std::string& baseline, Depth depth,
                 std::span<const Metric> registry) {
  Fleet fleet = read_alone(path, depth, registry);
  if (!baseline.empty()) {
    check_readable(baseline, Depth::probes);
    const RunComparison comparison = compare_files(baseline, path, registry);
    if (comparison.paired_gpus == 0) {
      log_world(
          fmt::format("none of the GPUs in '{}' was measured with the same setting in the baseline "
                      "'{}': nothing "
                      "is compared with it",
                      path.string(), baseline));
    }
    judge_by_baseline(fleet.run, comparison, fleet.analysis);
  }
  return fleet;
}

DeviceStream stream_devices(const std::filesystem::path& path) {
  return [path](const auto& take) {
    const RunReader reader(path);
    if (has_points(reader)) {
      const RunResult run = centre_of_repeats(read_run(path, Depth::probes));
      for (std::size_t i = 0; i < run.devices.size(); ++i) take(i, run.devices[i]);
      return;
    }
    for_each_device(reader, Depth::findings, take);
  };
}

}  // namespace sonde
