// Run files of a fleet as large as one likes, made of the first device of a measured run, without
// its probes: make_fleet TEMPLATE FOLDER DEVICES. One file for each node of eight. Numbers scatter
// as those of healthy GPUs do; every 400th device reads its memory too slowly, and is printed.
#include "analysis/metrics.hpp"
#include "base/random.hpp"
#include "store/run_reader.hpp"
#include "store/write_run.hpp"

#include <fmt/format.h>

#include <cstdlib>

namespace sonde {
namespace {

constexpr std::size_t devices_per_node = 8;
constexpr std::size_t fault_every = 400;
constexpr std::size_t first_fault = 17;
constexpr double fault_factor = 0.8;  // of the rate at which it reads
constexpr double scatter = 0.003;     // of a value: the usual one between healthy GPUs of one model

double disturbed(double value, Random& random) {
  double sum = -6;  // of twelve uniform numbers: nearly normal, standard deviation 1
  for (int i = 0; i < 12; ++i) sum += random.unit();
  return value * (1 + scatter * sum);
}

/// Continuous numbers and maps that are measured; not structure, nor numbers of units.
void disturb(Finding& finding, Random& random) {
  const Metric* metric = find_metric(finding.metric);
  if (metric == nullptr) return;
  if (auto* number = std::get_if<double>(&finding.value)) {
    if (metric->kind == MetricKind::continuous) *number = disturbed(*number, random);
  }
  const bool is_measured = metric->unit != "" && metric->unit != "1";
  if (auto* map = std::get_if<std::vector<double>>(&finding.value)) {
    if (metric->kind != MetricKind::fingerprint || !is_measured) return;
    for (double& value : *map) value = disturbed(value, random);
  }
}

DeviceResult make_device(DeviceResult device, std::size_t rank) {
  Random random(derive_seed(rank, "fleet"));
  device.info.uuid = fmt::format("GPU-{:08}", rank);
  device.node = fmt::format("node{:05}", rank / devices_per_node);
  device.rank = static_cast<int>(rank);
  const bool is_faulty = rank % fault_every == first_fault;
  if (is_faulty) fmt::print("{}\n", device.info.uuid);
  for (JobResult& job : device.jobs) {
    job.probes.clear();
    for (Finding& finding : job.findings) {
      disturb(finding, random);
      const bool is_slow = is_faulty && finding.metric == "global.read_bytes_per_s";
      if (is_slow) std::get<double>(finding.value) *= fault_factor;
    }
  }
  return device;
}

void make_fleet(const std::filesystem::path& source, const std::filesystem::path& folder,
                std::size_t devices) {
  const RunResult measured = read_run(source, Depth::probes);
  for (std::size_t first = 0; first < devices; first += devices_per_node) {
    const auto load = [&](std::size_t place) {
      return make_device(measured.devices.front(), first + place);
    };
    write_run_alone(folder / fmt::format("node{:05}.h5", first / devices_per_node),
                    measured.provenance, measured.unaudited, devices_per_node, load);
  }
}

}  // namespace
}  // namespace sonde

int main(int argc, char** argv) {
  if (argc != 4) return 2;
  try {
    sonde::make_fleet(argv[1], argv[2], static_cast<std::size_t>(std::atoi(argv[3])));
  } catch (const std::exception& error) {
    fmt::print(stderr, "make_fleet: {}\n", error.what());
    return 1;
  }
  return 0;
}
