// Findings as CBOR (RFC 8949), which holds NaN and every digit.
#include "store/hdf5/digest.hpp"

#include "base/text_file.hpp"

#include <nlohmann/json.hpp>

#include <fstream>
#include <iterator>

namespace sonde {
namespace fs = std::filesystem;
using nlohmann::json;

// The JSON library finds these by name.
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(DeviceInfo, uuid, name, serial, pci_bus_id, vbios,
                                   driver_version, runtime_version, compute_major, compute_minor,
                                   sm_count, warp_threads, max_threads_per_block,
                                   max_threads_per_sm, max_cluster_blocks, memory_bytes, l2_bytes,
                                   shared_bytes_per_block, shared_bytes_per_sm,
                                   reserved_shared_bytes_per_block, shared_carveouts_bytes,
                                   sm_clock_hz, memory_clock_hz, memory_bus_bits, memory_data_rate,
                                   sm_partition_instruction_caches, ecc, mig, mps,
                                   foreign_processes)
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(Health, temperature_c, power_w, sm_clock_hz, memory_clock_hz,
                                   throttle_reasons, ecc_corrected, ecc_uncorrected, remapped_rows,
                                   remap_pending, remap_failure, foreign_processes)

static void to_json(json& out, const Finding& finding) {
  out = {finding.metric,          to_text(finding.status), finding.reason,
         finding.confidence,      finding.samples,         finding.repeatability,
         finding.reproducibility, finding.replicates,      finding.modes};
  out.push_back(finding.interval ? json{finding.interval->low, finding.interval->high} : json());
  std::visit(
      [&out]<class T>(const T& value) {
        if constexpr (!std::is_same_v<T, std::monostate>) out.push_back(value);
      },
      finding.value);
}

static void from_json(const json& in, Finding& finding) {
  finding.metric = in.at(0).get<std::string>();
  finding.status = parse_status(in.at(1).get<std::string>());
  finding.reason = in.at(2).get<std::string>();
  finding.confidence = in.at(3).get<double>();
  finding.samples = in.at(4).get<std::uint64_t>();
  finding.repeatability = in.at(5).get<double>();
  finding.reproducibility = in.at(6).get<double>();
  finding.replicates = in.at(7).get<std::uint64_t>();
  finding.modes = in.at(8).get<std::vector<double>>();
  if (const json& interval = in.at(9); !interval.is_null()) {
    finding.interval =
        Interval{.low = interval.at(0).get<double>(), .high = interval.at(1).get<double>()};
  }
  if (in.size() == 10) return;
  const json& value = in.at(10);
  if (value.is_string()) {
    finding.value = value.get<std::string>();
  } else if (value.is_array()) {
    finding.value = value.get<std::vector<double>>();
  } else {
    finding.value = value.get<double>();
  }
}

static void to_json(json& out, const JobResult& job) {
  out = {{"job", job.job},           {"status", to_text(job.status)},
         {"reason", job.reason},     {"elapsed_s", job.elapsed_s},
         {"device_s", job.device_s}, {"findings", job.findings}};
}

static void from_json(const json& in, JobResult& job) {
  in.at("job").get_to(job.job);
  job.status = parse_status(in.at("status").get<std::string>());
  in.at("reason").get_to(job.reason);
  in.at("elapsed_s").get_to(job.elapsed_s);
  in.at("device_s").get_to(job.device_s);
  in.at("findings").get_to(job.findings);
}

static void to_json(json& out, const DeviceResult& device) {
  out = {{"info", device.info},     {"node", device.node},
         {"rank", device.rank},     {"status", to_text(device.status)},
         {"reason", device.reason}, {"before", device.before},
         {"after", device.after},   {"jobs", device.jobs},
         {"again", device.again}};
}

static void from_json(const json& in, DeviceResult& device) {
  in.at("info").get_to(device.info);
  in.at("node").get_to(device.node);
  in.at("rank").get_to(device.rank);
  device.status = parse_device_outcome(in.at("status").get<std::string>());
  in.at("reason").get_to(device.reason);
  in.at("before").get_to(device.before);
  in.at("after").get_to(device.after);
  in.at("jobs").get_to(device.jobs);
  in.at("again").get_to(device.again);
}

namespace {

fs::path digest_path(const fs::path& shard) { return shard.string() + ".findings"; }

}  // namespace

void write_digest(const fs::path& shard, const DeviceResult& device,
                  const std::string& config_hash) {
  const auto bytes = json::to_cbor({{"config_hash", config_hash}, {"device", device}});
  write_text_file(digest_path(shard), {bytes.begin(), bytes.end()});
}

std::optional<DeviceResult> read_digest(const fs::path& shard, const std::string& config_hash) {
  std::ifstream file(digest_path(shard), std::ios::binary);
  const std::string bytes{std::istreambuf_iterator<char>(file), {}};
  try {
    const json digest = json::from_cbor(bytes);
    if (digest.at("config_hash") != config_hash) return std::nullopt;
    return digest.at("device").get<DeviceResult>();
  } catch (const std::exception&) {
    return std::nullopt;
  }
}

void remove_digest(const fs::path& shard) {
  std::error_code ignored;
  fs::remove(digest_path(shard), ignored);
}

}  // namespace sonde
