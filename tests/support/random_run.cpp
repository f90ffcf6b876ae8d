#include "support/random_run.hpp"

#include "base/random.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <limits>

namespace sonde::test {
namespace {

std::string random_text(Random& random) {
  static const std::vector<std::string> texts{"", "plain", "Größe in µs — 测试",
                                              "\"quoted\"\n\ttext", std::string(700, 'x')};
  return texts[random.below(texts.size())];
}

double random_number(Random& random) {
  switch (random.below(6)) {
    case 0: return std::numeric_limits<double>::quiet_NaN();
    case 1: return std::numeric_limits<double>::infinity();
    case 2: return -0.0;
    default: return (random.unit() - 0.3) * 1e9;
  }
}

std::vector<std::uint64_t> random_values(Random& random, std::uint64_t most) {
  std::vector<std::uint64_t> values(random.below(4) == 0 ? 0 : random.below(most));
  for (auto& value : values) value = random.below(1 << 20) * 8;
  if (!values.empty()) values.back() = std::numeric_limits<std::uint64_t>::max();
  return values;
}

/// Multiples of some step, mostly small ones; now and then such that no step helps.
std::vector<std::uint64_t> random_offsets(Random& random, std::uint64_t most) {
  if (random.below(8) == 0) return random_values(random, most);
  const std::uint64_t step = std::uint64_t{8} << random.below(26);
  std::vector<std::uint64_t> offsets(random.below(most));
  for (auto& offset : offsets) offset = random.below(random.below(4) == 0 ? 1 << 20 : 64) * step;
  return offsets;
}

std::vector<WindowCount> random_histogram(Random& random) {
  std::vector<WindowCount> histogram;
  for (std::uint64_t bin = random.below(histogram_bins); bin < histogram_bins;
       bin += 1 + random.below(300)) {
    const std::uint64_t most =
        random.below(20) == 0 ? std::numeric_limits<std::uint64_t>::max() : 90;
    histogram.push_back({static_cast<std::uint32_t>(bin), 1 + random.below(most)});
  }
  return histogram;
}

LaneTrace random_lane(Random& random, int size_factor) {
  LaneTrace lane;
  lane.sm = static_cast<int>(random.below(133)) - 1;
  lane.warp = static_cast<int>(random.below(4));
  lane.cluster = static_cast<int>(random.below(9)) - 1;
  const std::uint64_t most = 40 * static_cast<std::uint64_t>(size_factor) + 1;
  lane.window_cycles.resize(random.below(3) == 0 ? 0 : random.below(most));
  for (auto& cycles : lane.window_cycles) {
    const bool is_long = random.below(100) == 0;
    cycles = static_cast<std::uint32_t>(is_long ? 65535 + random.below(1 << 20)
                                                : 30 + random.below(300));
  }
  lane.offsets_bytes = random_offsets(random, lane.window_cycles.size() + 1);
  if (random.below(3) == 0) lane.histogram = random_histogram(random);
  lane.clock_cycles = random_values(random, 20);
  lane.globaltimer_ns = random_values(random, 20);
  lane.elapsed_cycles = random();
  lane.accesses = random.below(1000);
  return lane;
}

ProbeRecord random_probe(Random& random, int size_factor) {
  ProbeRecord record;
  record.label = random_text(random);
  record.kind = "chase";
  record.parameters_json = fmt::format(R"({{"size_bytes": {}}})", random.below(1 << 20));
  record.trace.conditions = {random_number(random),
                             2.6e9,
                             41.5,
                             random(),
                             random(),
                             -static_cast<std::int64_t>(random.below(1000))};
  record.trace.shared_carveout_bytes = random();
  record.trace.buffer_offset_bytes = random();
  record.trace.device_s = random.unit();
  const auto lanes = random.below(5);
  for (std::uint64_t i = 0; i < lanes; ++i) {
    record.trace.lanes.push_back(random_lane(random, size_factor));
  }
  for (std::uint64_t i = random.below(4); i > 0; --i) {
    record.trace.repeat_ns.push_back(random_number(random));
  }
  return record;
}

Finding random_finding(Random& random, std::size_t number) {
  Finding finding;
  finding.metric = fmt::format("some.metric{}", number);
  switch (random.below(4)) {
    case 0: finding.value = random_number(random); break;
    case 1: finding.value = random_text(random); break;
    case 2: {
      std::vector<double> vector(random.below(140));
      for (double& element : vector) element = random_number(random);
      finding.value = vector;
      break;
    }
    default: break;
  }
  finding.status = static_cast<Status>(random.below(7));
  finding.reason = random_text(random);
  finding.confidence = random.unit();
  finding.samples = random();
  finding.repeatability = random_number(random);
  finding.reproducibility = random_number(random);
  finding.replicates = random.below(20);
  finding.modes.resize(random.below(3));
  for (double& mode : finding.modes) mode = random_number(random);
  if (random.below(4) == 0) {
    const double low = random.unit();
    finding.interval = Interval{low, low + random.unit()};
  }
  return finding;
}

Health random_health(Random& random) {
  return {random_number(random),
          350.5,
          1.98e9,
          2.6e9,
          random(),
          random(),
          1,
          2,
          random.below(2) == 1,
          false,
          static_cast<int>(random.below(3))};
}

std::string print_lane(const LaneTrace& lane) {
  std::string bins;
  for (const WindowCount& bin : lane.histogram) {
    bins += fmt::format("{}:{} ", bin.window_cycles, bin.accesses);
  }
  return fmt::format("      {} {} {} {} {} | {} | {} | {} | {} | {}\n", lane.sm, lane.warp,
                     lane.cluster, lane.elapsed_cycles, lane.accesses, lane.window_cycles,
                     lane.offsets_bytes, bins, lane.clock_cycles, lane.globaltimer_ns);
}

std::string print_value(const Value& value) {
  return std::visit(
      [&value]<class T>(const T& held) -> std::string {
        if constexpr (std::is_same_v<T, std::monostate>)
          return "none";
        else
          return fmt::format("{} {}", value.index(), held);
      },
      value);
}

std::string print_health(const Health& health) {
  return fmt::format("{} {} {} {} {} {} {} {} {} {} {}", health.temperature_c, health.power_w,
                     health.sm_clock_hz, health.memory_clock_hz, health.throttle_reasons,
                     health.ecc_corrected, health.ecc_uncorrected, health.remapped_rows,
                     health.remap_pending, health.remap_failure, health.foreign_processes);
}

}  // namespace

JobResult random_job(std::uint64_t seed, const std::string& name, int size_factor) {
  Random random(derive_seed(seed, name));
  JobResult job;
  job.job = name;
  job.status = static_cast<Status>(random.below(7));
  job.reason = random_text(random);
  job.elapsed_s = random.unit();
  job.device_s = random.unit();
  for (std::uint64_t i = random.below(6); i > 0; --i) {
    job.probes.push_back(random_probe(random, size_factor));
  }
  for (std::uint64_t i = random.below(6); i > 0; --i) {
    job.findings.push_back(random_finding(random, i));
  }
  return job;
}

DeviceResult random_device(std::uint64_t seed, int rank, int size_factor) {
  Random random(derive_seed(seed, fmt::format("device {}", rank)));
  DeviceResult device;
  device.info.uuid = fmt::format("GPU-{:016x}", random());
  device.info.name = "NVIDIA H200";
  device.info.pci_bus_id = fmt::format("00000000:{:02X}:00.0", random.below(256));
  device.info.sm_count = 132;
  device.info.memory_bytes = random();
  device.info.sm_clock_hz = 1.98e9;
  device.info.ecc = random.below(2) == 1;
  device.info.shared_carveouts_bytes.resize(random.below(8));
  for (auto& bytes : device.info.shared_carveouts_bytes) bytes = random.below(228) * 1024;
  device.node = fmt::format("node{}", rank / 2);
  device.rank = rank;
  device.status = DeviceOutcome::complete;
  device.reason = random_text(random);
  device.before = random_health(random);
  device.after = random_health(random);
  std::vector<std::string> jobs{"clock", "cache.l1", "global.throughput", "tlb", "sharing"};
  shuffle(jobs, random);
  jobs.resize(random.below(jobs.size() + 1));
  for (const std::string& job : jobs) device.jobs.push_back(random_job(random(), job, size_factor));
  jobs.resize(std::min<std::size_t>(jobs.size(), random.below(3)));
  for (const std::string& job : jobs) device.again.push_back(random_job(random(), job, 1));
  return device;
}

Provenance some_provenance() {
  Provenance provenance;
  provenance.command_line = "sonde run -o run.h5";
  provenance.config_json = R"({"suite": "standard", "note": "größer"})";
  provenance.config_hash = "c0ffee";
  provenance.sonde_version = "0.1.0";
  provenance.git_revision = "abcdef";
  provenance.library_versions = "HDF5 1.10.8";
  provenance.started_utc = "2026-01-02T03:04:05Z";
  provenance.seed = std::numeric_limits<std::uint64_t>::max();
  provenance.world_size = 4;
  return provenance;
}

std::string print(const JobResult& job) {
  std::string text = fmt::format("  {} {} {} {} {}\n", job.job, to_text(job.status), job.reason,
                                 job.elapsed_s, job.device_s);
  for (const ProbeRecord& probe : job.probes) {
    const Conditions& at = probe.trace.conditions;
    text += fmt::format("    {} {} {} {} {} {} {} {} {} {} {} {} {}\n", probe.label, probe.kind,
                        probe.parameters_json, at.sm_clock_hz, at.memory_clock_hz, at.temperature_c,
                        at.throttle_reasons, at.seed, at.start_unix_ns,
                        probe.trace.shared_carveout_bytes, probe.trace.buffer_offset_bytes,
                        probe.trace.device_s, probe.trace.repeat_ns);
    for (const LaneTrace& lane : probe.trace.lanes) text += print_lane(lane);
  }
  for (const Finding& finding : job.findings) {
    const Interval interval = finding.interval.value_or(Interval{-1, -1});
    text += fmt::format("    {} {} {} {} {} {} {} {} {} {} {} {}\n", finding.metric,
                        print_value(finding.value), to_text(finding.status), finding.reason,
                        finding.confidence, finding.samples, finding.repeatability,
                        finding.reproducibility, finding.replicates, finding.modes, interval.low,
                        interval.high);
  }
  return text;
}

std::string print(const DeviceResult& device) {
  const DeviceInfo& info = device.info;
  std::string text = fmt::format(
      "{} {} {} {} {} {} {} {} {} {} {} {} {}\n  {}\n  {}\n", info.uuid, info.name, info.serial,
      info.pci_bus_id, info.sm_count, info.memory_bytes, info.sm_clock_hz, info.ecc,
      info.shared_carveouts_bytes, device.node, device.rank, to_text(device.status), device.reason,
      print_health(device.before), print_health(device.after));
  for (const JobResult& job : device.jobs) text += print(job);
  if (!device.again.empty()) text += "  again\n";
  for (const JobResult& job : device.again) text += print(job);
  return text;
}

std::string print(const RunResult& run) {
  const Provenance& from = run.provenance;
  std::string text =
      fmt::format("{} {} {} {} {} {} {} {} {} {}\n", from.command_line, from.config_json,
                  from.config_hash, from.sonde_version, from.git_revision, from.library_versions,
                  from.started_utc, from.slurm_job_id, from.seed, from.world_size);
  for (const DeviceResult& device : run.devices) text += print(device);
  for (const UnauditedDevice& device : run.unaudited) {
    text += fmt::format("unaudited {} {}\n", device.node, device.uuid);
  }
  return text;
}

}  // namespace sonde::test
