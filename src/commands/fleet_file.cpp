// Reads devices in blocks, since assembling rows takes as much memory again.
#include "commands/fleet_file.hpp"

#include "analysis/fleet/conditions.hpp"
#include "analysis/fleet/grounds/grounds.hpp"
#include "analysis/fleet/verdict/reduce.hpp"
#include "base/log.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <utility>

namespace sonde {
namespace {

// Findings or probes that are read together: 1 kB each while they are assembled. With smaller
// blocks, the same chunks (of up to 65,536 rows) are unpacked again and again.
constexpr std::uint64_t block_rows = 100'000;

/// @param rows the total number of rows of all devices
std::vector<RowRange> blocks_of(std::uint64_t devices, std::uint64_t rows) {
  std::vector<RowRange> blocks;
  const std::uint64_t length =
      std::max<std::uint64_t>(1, block_rows * devices / std::max<std::uint64_t>(1, rows));
  for (std::uint64_t first = 0; first < devices; first += length) {
    blocks.push_back({first, std::min(length, devices - first)});
  }
  return blocks;
}

/// The whole run; with its probes if they are wanted and the devices are few. (A device of the
/// standard suite takes 0.35 MB without probes, so 10,000 take 3.5 GB.)
RunResult read_rows(const RunReader& reader, Depth depth) {
  // A device of the standard suite has some ten thousand probes.
  constexpr std::size_t most_devices_with_probes = 64;
  if (reader.device_count() > most_devices_with_probes) depth = Depth::findings;
  RunResult run{
      .provenance = reader.provenance(), .devices = {}, .unaudited = reader.read_unaudited()};
  for (const RowRange block : blocks_of(reader.device_count(), reader.count_findings())) {
    std::ranges::move(reader.read_devices(block, depth), std::back_inserter(run.devices));
  }
  return run;
}

/// The conditions (clocks, heat and the like) of each device of the run, from the file's probes.
std::vector<DeviceConditions> read_conditions(const RunReader& reader, const RunResult& run) {
  const std::uint64_t probes = reader.count_probes();
  if (probes == 0) return conditions_of(run);
  std::vector<DeviceConditions> conditions;
  for (const RowRange block : blocks_of(reader.device_count(), probes)) {
    for (const DeviceResult& device : reader.read_devices(block, Depth::probes)) {
      conditions.push_back(summarize_conditions(device));
    }
  }
  return conditions;
}

/// Merges repeats into their centre. Conditions and drifts are computed over all repeats.
Fleet read_alone(const std::filesystem::path& path, Depth depth, std::span<const Metric> registry) {
  const RunReader reader(path);
  RunResult run = read_rows(reader, depth);
  std::vector<DeviceConditions> conditions = read_conditions(reader, run);
  std::vector<Charge> drifts;
  if (run.provenance.points.size() > 1) {
    drifts = drift_charges(run, conditions, registry);
    conditions = centre_of_conditions(run, conditions);
  }
  Fleet fleet{.run = centre_of_repeats(std::move(run)), .analysis = {}};
  fleet.analysis =
      reduce_fleet(fleet.run, {.registry = registry, .conditions = conditions, .drifts = drifts});
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
                      "'{}': nothing is compared with it",
                      path.string(), baseline));
    }
    judge_by_baseline(fleet.run, comparison, fleet.analysis);
  }
  return fleet;
}

}  // namespace sonde
