// How often healthy fleets are flagged, and how often a planted fault is found with the right
// class: fleets are drawn from devices that were measured once, each into a run file of its own,
// and only the reduction runs for each fleet. fleet_scores.py measures the devices.
//
//   score_fleets FOLDER: FOLDER/healthy/*.h5 and, for each fault, FOLDER/<fault>/*.h5
//
// Status 1 if a score misses what docs/fleet-analysis.md promises.
#include "analysis/fleet/conditions.hpp"
#include "analysis/fleet/reduce.hpp"
#include "base/error.hpp"
#include "base/random.hpp"
#include "store/run_reader.hpp"

#include <fmt/format.h>
#include <CLI/CLI.hpp>

#include <algorithm>
#include <filesystem>
#include <map>
#include <numeric>
#include <string>
#include <vector>

namespace sonde {
namespace {

constexpr std::size_t devices_per_node = 8;
constexpr std::size_t most_shown_causes = 8;

/// A folder of devices with one fault, and the class that names it.
struct Fault {
  const char* folder;
  Trouble expected;
};
constexpr Fault faults[] = {{"slow_sm", Trouble::sm},
                            {"low_bandwidth", Trouble::memory_rate},
                            {"throttle", Trouble::thermal},
                            {"missing_tpc", Trouble::structure},
                            {"small_l1", Trouble::structure}};

struct Options {
  std::filesystem::path folder;
  std::vector<std::size_t> healthy_sizes{2, 8, 64, 256};
  std::vector<std::size_t> faulty_sizes{8, 64};
  std::size_t fleets = 50;
  std::size_t most_flagged = 1;
  std::uint64_t seed = 1;
};

/// What the reduction wants to know of probes, in the device's health instead.
void fold_conditions(DeviceResult& device) {
  const DeviceConditions conditions = summarize_conditions(device);
  device.after.sm_clock_hz = conditions.sm_clock_hz;
  device.after.temperature_c = conditions.temperature_c;
  device.after.throttle_reasons |= conditions.throttle_reasons;
  for (JobResult& job : device.jobs) job.probes.clear();
}

/// All devices of all run files of a folder, by name of the file. None if there is no such folder.
std::vector<DeviceResult> read_devices(const std::filesystem::path& folder) {
  std::vector<std::filesystem::path> files;
  if (!std::filesystem::exists(folder)) return {};
  for (const auto& entry : std::filesystem::directory_iterator(folder)) {
    if (entry.path().extension() == ".h5") files.push_back(entry.path());
  }
  std::ranges::sort(files);
  std::vector<DeviceResult> devices;
  for (const auto& file : files) {
    for (DeviceResult& device : read_run(file, WithTraces::no).devices) {
      fold_conditions(device);
      devices.push_back(std::move(device));
    }
  }
  return devices;
}

/// Places in a fleet differ; a device that is drawn twice is two devices.
void put_in_place(DeviceResult& device, std::size_t place) {
  device.info.uuid = fmt::format("GPU-{:08}", place);
  device.info.serial = fmt::format("{:08}", place);
  device.rank = static_cast<int>(place);
  device.node = fmt::format("node{:03}", place / devices_per_node);
}

/// Without replacement as long as there are devices left.
RunResult draw_fleet(const std::vector<DeviceResult>& devices, std::size_t n, Random& random) {
  std::vector<std::size_t> order;
  while (order.size() < n) {
    std::vector<std::size_t> all(devices.size());
    std::iota(all.begin(), all.end(), 0);
    shuffle(all, random);
    order.insert(order.end(), all.begin(), all.end());
  }
  RunResult run;
  for (std::size_t place = 0; place < n; ++place) {
    run.devices.push_back(devices[order[place]]);
    put_in_place(run.devices.back(), place);
  }
  return run;
}

/// By how many findings each metric flagged somebody.
using Causes = std::map<std::string, std::size_t>;

void print_causes(const Causes& causes) {
  std::vector<std::pair<std::size_t, std::string>> sorted;
  for (const auto& [metric, count] : causes) sorted.emplace_back(count, metric);
  std::ranges::sort(sorted, std::greater{});
  sorted.resize(std::min(sorted.size(), most_shown_causes));
  for (const auto& [count, metric] : sorted) fmt::print("    {:5} x {}\n", count, metric);
}

bool score_healthy(const Options& options, const std::vector<DeviceResult>& devices,
                   std::size_t n) {
  Random random(derive_seed(options.seed, fmt::format("healthy {}", n)));
  std::size_t flagged = 0;
  Causes causes;
  Causes not_judged;
  for (std::size_t fleet = 0; fleet < options.fleets; ++fleet) {
    const FleetAnalysis analysis = reduce_fleet(draw_fleet(devices, n, random));
    if (analysis.counts.flagged > 0) ++flagged;
    for (const Charge& finding : analysis.charges) {
      if (finding.severity != Severity::info) ++causes[finding.metric + ": " + finding.reason];
      if (finding.reason.starts_with("not judged")) ++not_judged[finding.metric];
    }
  }
  const bool good = flagged <= options.most_flagged;
  fmt::print("healthy        n={:<4} {:2} of {} fleets flagged{}\n", n, flagged, options.fleets,
             good ? "" : "  MISSED");
  print_causes(causes);
  if (!not_judged.empty()) fmt::print("    fleets in which a metric was not judged:\n");
  print_causes(not_judged);
  return good;
}

bool score_fault(const Options& options, const std::vector<DeviceResult>& healthy,
                 const std::vector<DeviceResult>& faulty, const Fault& fault, std::size_t n) {
  Random random(derive_seed(options.seed, fmt::format("{} {}", fault.folder, n)));
  std::size_t found = 0;
  std::size_t named = 0;
  std::size_t others = 0;
  Causes causes;
  for (const DeviceResult& device : faulty) {
    RunResult run = draw_fleet(healthy, n, random);
    const std::size_t place = random.below(n);
    run.devices[place] = device;
    put_in_place(run.devices[place], place);
    const FleetAnalysis analysis = reduce_fleet(run);
    const DeviceVerdict& verdict = analysis.verdicts[place];
    const bool is_found = verdict.verdict == Verdict::warn || verdict.verdict == Verdict::fail;
    if (is_found) ++found;
    if (is_found && verdict.likely == fault.expected) ++named;
    if (!is_found || verdict.likely != fault.expected) {
      ++causes[fmt::format("called {}, {}: {}", to_text(verdict.verdict), to_text(verdict.likely),
                           verdict.reason)];
    }
    others += analysis.counts.flagged - (is_found ? 1 : 0);
  }
  const bool good = named == faulty.size();
  fmt::print("{:14} n={:<4} {:2} of {} found, {} of them as {}, {} others flagged{}\n",
             fault.folder, n, found, faulty.size(), named, to_text(fault.expected), others,
             good ? "" : "  MISSED");
  print_causes(causes);
  return good;
}

int score(const Options& options) {
  const std::vector<DeviceResult> healthy = read_devices(options.folder / "healthy");
  if (healthy.empty()) {
    throw ConfigError(
        fmt::format("{} has no run files (fleets are drawn from devices that were measured) run "
                    "fleet_scores.py",
                    (options.folder / "healthy").string()));
  }
  fmt::print("fleets are drawn from {} devices\n", healthy.size());
  bool good = true;
  for (const std::size_t n : options.healthy_sizes) good &= score_healthy(options, healthy, n);
  for (const Fault& fault : faults) {
    const std::vector<DeviceResult> faulty = read_devices(options.folder / fault.folder);
    for (const std::size_t n : options.faulty_sizes) {
      if (!faulty.empty()) good &= score_fault(options, healthy, faulty, fault, n);
    }
  }
  return good ? 0 : 1;
}

}  // namespace
}  // namespace sonde

int main(int argc, char** argv) {
  sonde::Options options;
  CLI::App app{"Scores of the fleet analysis on fleets drawn from measured devices"};
  app.add_option("folder", options.folder, "of run files")->required();
  app.add_option("--healthy-sizes", options.healthy_sizes, "devices of the healthy fleets")
      ->delimiter(',');
  app.add_option("--faulty-sizes", options.faulty_sizes, "devices of those with a fault")
      ->delimiter(',');
  app.add_option("--fleets", options.fleets, "healthy fleets of each size");
  app.add_option("--most-flagged", options.most_flagged, "of these that may be flagged");
  app.add_option("--seed", options.seed, "of the draws");
  CLI11_PARSE(app, argc, argv);
  try {
    return sonde::score(options);
  } catch (const std::exception& error) {
    fmt::print(stderr, "score_fleets: {}\n", error.what());
    return 2;
  }
}
