// Writes a random run file for tests of readers, and what is in it as JSON on stdout:
// make_run_file <path> <devices>
#include "base/error.hpp"
#include "store/analysis_file.hpp"
#include "store/hdf5/flatten.hpp"
#include "store/write_run.hpp"
#include "support/random_run.hpp"

#include <nlohmann/json.hpp>

#include <cstdlib>
#include <iostream>

namespace {

using namespace sonde;
using Json = nlohmann::ordered_json;

DeviceResult make_device(std::size_t rank) {
  DeviceResult device = test::random_device(11, static_cast<int>(rank), 2000);
  device.reason = "Größe in µs";
  device.jobs = {test::random_job(rank + 3, "cache.l1", 2000), test::random_job(rank, "sharing")};
  device.jobs[0].findings = {found("cache.l1.line_bytes", 128.0, 1, 9),
                             found("cache.l1.replacement", "lru", 0.5, 7),
                             found("cache.l1.way_probability", std::vector{0.25, 0.75}, 1, 8),
                             not_present("cache.l1.sets", "no sets")};
  return device;
}

Json describe(const JobResult& job) {
  Json json{{"probes", Json::array()}};
  for (const ProbeRecord& probe : job.probes) {
    Json lanes = Json::array();
    for (const LaneTrace& lane : probe.trace.lanes) {
      Json histogram = Json::array();
      for (const WindowCount& bin : lane.histogram) {
        histogram.push_back({bin.window_cycles, bin.accesses});
      }
      lanes.push_back({{"sm", lane.sm},
                       {"window_cycles", lane.window_cycles},
                       {"histogram", histogram},
                       {"offsets_bytes", lane.offsets_bytes}});
    }
    json["probes"].push_back({{"label", probe.label},
                              {"parameters", Json::parse(probe.parameters_json)},
                              {"lanes", lanes},
                              {"repeats", probe.trace.repeat_ns.size()}});
  }
  return json;
}

Json describe(const DeviceResult& device) {
  Json json{{"uuid", device.info.uuid},
            {"reason", device.reason},
            {"carveouts", device.info.shared_carveouts_bytes}};
  for (const StoredJob& job : stored_jobs(device)) json["jobs"][job.name] = describe(*job.result);
  return json;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 3) return 2;
  try {
    const auto devices = static_cast<std::size_t>(std::atoi(argv[2]));
    write_run_alone(argv[1], test::some_provenance(), {}, devices, make_device);
    RunResult run{test::some_provenance(), {}, {}};
    FleetAnalysis analysis;
    analysis.groups = {{.model = "all", .label = "all", .devices = {}}};
    MetricStatistics& row = analysis.statistics.emplace_back();
    row.metric = "cache.l1.line_bytes";
    row.unit = "byte";
    row.n = row.agreeing = devices;
    row.median = row.min = row.max = 128;
    row.consensus = "128 B";
    Json all = Json::array();
    for (std::size_t i = 0; i < devices; ++i) {
      run.devices.push_back(make_device(i));
      analysis.verdicts.emplace_back();
      all.push_back(describe(run.devices.back()));
    }
    append_analysis(argv[1], run, analysis);
    std::cout << all.dump() << '\n';
  } catch (const Error& error) {
    std::cerr << error.what() << '\n';
    return 1;
  }
}
