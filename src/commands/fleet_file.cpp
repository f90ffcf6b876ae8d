// Findings of a large fleet are kept in columns, from which the reduction has some in turns.
#include "commands/fleet_file.hpp"

#include "analysis/fleet/conditions.hpp"
#include "analysis/fleet/grounds/grounds.hpp"
#include "analysis/fleet/verdict/reduce.hpp"
#include "base/log.hpp"
#include "commands/finding_columns.hpp"
#include "store/run_reader.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <set>
#include <string_view>
#include <utility>

namespace sonde {
namespace {

// A device of the standard suite has 1.6 MB of findings in memory: 0.4 GB.
constexpr std::size_t most_whole_devices = 256;
// Findings of so many metrics are in memory at once: 0.3 GB of 10,000 devices.
constexpr std::size_t most_turn_metrics = 96;
// Findings and probes that are read together: 1 kB each while they are assembled. Blocks that are
// smaller unpack the same chunks (of up to 65,536 rows) again and again.
constexpr std::uint64_t block_rows = 100'000;
// Shown as examples of those that pass, and metrics shown of all devices.
constexpr std::size_t example_devices = 8;
constexpr std::size_t most_kept_metrics = 24;

using Blocks = std::vector<RowRange>;

/// @param rows of all devices
Blocks blocks_of(std::uint64_t devices, std::uint64_t rows) {
  Blocks blocks;
  const std::uint64_t length =
      std::max<std::uint64_t>(1, block_rows * devices / std::max<std::uint64_t>(1, rows));
  for (std::uint64_t first = 0; first < devices; first += length) {
    blocks.push_back({first, std::min(length, devices - first)});
  }
  return blocks;
}

/// What the probes of each device saw; empty if the file has no probes.
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

JobResult* find_job(DeviceResult& device, const std::string& name) {
  const auto found = std::ranges::find(device.jobs, name, &JobResult::job);
  return found != device.jobs.end() ? &*found : nullptr;
}

/// Those that are flagged, and some that are not: what follows each other is read together.
Blocks shown_devices(const FleetAnalysis& analysis) {
  Blocks blocks;
  std::size_t examples = 0;
  for (std::size_t i = 0; i < analysis.verdicts.size(); ++i) {
    const Verdict verdict = analysis.verdicts[i].verdict;
    const bool flagged = verdict == Verdict::warn || verdict == Verdict::fail;
    if (!flagged && ++examples > example_devices) continue;
    const bool follows = !blocks.empty() && blocks.back().offset + blocks.back().length == i &&
                         blocks.back().length < example_devices;
    if (follows) {
      ++blocks.back().length;
    } else {
      blocks.push_back({i, 1});
    }
  }
  return blocks;
}

/// Calls `take` with all devices and their findings, in the order of the file, some in memory at a
/// time.
void for_each_device(const RunReader& reader,
                     const std::function<void(std::size_t, DeviceResult)>& take) {
  std::size_t index = 0;
  for (const RowRange block : blocks_of(reader.device_count(), reader.count_findings())) {
    for (DeviceResult& device : reader.read_devices(block, Depth::findings))
      take(index++, std::move(device));
  }
}

/// A run whose findings are columns, but for those of the turn.
class TurnReader {
 public:
  explicit TurnReader(const RunReader& reader) : reader_(reader) {
    run_.provenance = reader.provenance();
    run_.unaudited = reader.read_unaudited();
    for_each_device(
        reader, [this](std::size_t index, DeviceResult device) { add(index, std::move(device)); });
    load({"topology", findings_.metrics_of("topology")});
    turns_ = list_turns();
  }

  Fleet reduce(std::span<const Metric> registry) {
    const std::vector<DeviceConditions> conditions = read_conditions(reader_);
    Fleet fleet;
    fleet.analysis = reduce_fleet(in_turns(), {.registry = registry, .conditions = conditions});
    keep_what_is_shown(fleet.analysis);
    fleet.run = std::move(run_);
    return fleet;
  }

 private:
  RunInTurns in_turns() {
    return {.run = run_,
            .turns = turns_,
            .load = [this](const Turn& turn) { load(turn); },
            .drop = [this](const Turn& turn) { drop(turn); }};
  }

  void add(std::size_t index, DeviceResult device) {
    for (JobResult& job : device.jobs) {
      jobs_.insert(job.job);
      findings_.add(index, job.job, std::exchange(job.findings, {}));
    }
    run_.devices.push_back(std::move(device));
  }

  std::vector<Turn> list_turns() const {
    std::vector<Turn> turns;
    for (const std::string& job : jobs_) {
      const std::vector<std::string> names = findings_.metrics_of(job);
      for (std::size_t first = 0; first < names.size(); first += most_turn_metrics) {
        const std::size_t end = std::min(names.size(), first + most_turn_metrics);
        turns.push_back({job,
                         {names.begin() + static_cast<std::ptrdiff_t>(first),
                          names.begin() + static_cast<std::ptrdiff_t>(end)}});
      }
    }
    return turns;
  }

  void load(const Turn& turn) {
    const std::set<std::string_view> wanted(turn.metrics.begin(), turn.metrics.end());
    std::vector<JobResult*> jobs;
    for (DeviceResult& device : run_.devices) {
      JobResult* job = jobs.emplace_back(find_job(device, turn.job));
      if (job == nullptr) continue;
      std::erase_if(job->findings, [&](const Finding& one) { return wanted.contains(one.metric); });
      job->findings.reserve(job->findings.size() + wanted.size());
    }
    for (const std::string& metric : turn.metrics) {
      findings_.for_each(turn.job, metric, [&](std::size_t device, Finding finding) {
        jobs[device]->findings.push_back(std::move(finding));
      });
    }
  }

  /// What is missing counts in the end; units are named by `topology`.
  void drop(const Turn& turn) {
    if (turn.job == "topology") return;
    for (DeviceResult& device : run_.devices) {
      JobResult* job = find_job(device, turn.job);
      if (job == nullptr) continue;
      std::erase_if(job->findings, [](const Finding& one) { return !is_missing(one.status); });
      job->findings.shrink_to_fit();
    }
  }

  void keep_what_is_shown(const FleetAnalysis& analysis) {
    std::set<std::string> metrics;
    for (const Charge& finding : analysis.charges) {
      if (metrics.size() == most_kept_metrics) break;
      if (finding.severity != Severity::info) {
        metrics.insert(std::string(finding.base_metric()));
      }
    }
    for (const Turn& turn : turns_) {
      Turn kept{turn.job, {}};
      std::ranges::copy_if(turn.metrics, std::back_inserter(kept.metrics),
                           [&](const std::string& name) { return metrics.contains(name); });
      if (!kept.metrics.empty()) load(kept);
    }
    for (const RowRange block : shown_devices(analysis)) {
      std::ranges::move(reader_.read_devices(block, Depth::findings),
                        run_.devices.begin() + static_cast<std::ptrdiff_t>(block.offset));
    }
  }

  const RunReader& reader_;
  RunResult run_;
  FindingColumns findings_;
  std::set<std::string> jobs_;
  std::vector<Turn> turns_;
};

/// All of it, with the probes if they are wanted and few.
RunResult read_rows(const RunReader& reader, Depth depth) {
  // A device of the standard suite has some ten thousand probes.
  constexpr std::size_t most_devices_with_probes = 64;
  if (reader.device_count() > most_devices_with_probes) depth = Depth::findings;
  return {.provenance = reader.provenance(),
          .devices = reader.read_devices({0, reader.device_count()}, depth),
          .unaudited = reader.read_unaudited()};
}

/// Repeats become one, with what all their probes saw, and what drifted over them.
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
  if (reader.device_count() > most_whole_devices) return TurnReader(reader).reduce(registry);
  const std::vector<DeviceConditions> conditions = read_conditions(reader);
  Fleet fleet;
  fleet.run = read_rows(reader, depth);
  fleet.analysis = reduce_fleet(fleet.run, {.registry = registry, .conditions = conditions});
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
    for_each_device(reader, take);
  };
}

}  // namespace sonde
