// From the JSON text of a model to the Model struct: the chip, its clocks and all that the other
// readers make of their sections.
#include "base/error.hpp"
#include "device/sim/model/readers.hpp"

#include <algorithm>

namespace sonde::sim {
namespace {

using nlohmann::json;

DeviceInfo read_device(Fields fields) {
  DeviceInfo info;
  info.name = fields.text("name");
  info.compute_major = static_cast<int>(fields.count("compute_major", 1));
  info.compute_minor = static_cast<int>(fields.count("compute_minor", 0));
  info.memory_bytes = fields.bytes("memory_bytes");
  info.l2_bytes = fields.bytes_or("l2_bytes", 0);
  info.max_threads_per_block = static_cast<int>(fields.count("max_threads_per_block", 32));
  info.max_threads_per_sm = static_cast<int>(fields.count("max_threads_per_sm", 32));
  info.max_cluster_blocks = static_cast<int>(fields.count_or("max_cluster_blocks", 0, 0));
  info.shared_bytes_per_block = fields.bytes("shared_bytes_per_block");
  info.shared_bytes_per_sm = fields.bytes("shared_bytes_per_sm");
  info.reserved_shared_bytes_per_block = fields.bytes_or("reserved_shared_bytes_per_block", 0);
  if (fields.has("shared_carveouts_bytes")) {
    info.shared_carveouts_bytes = fields.byte_list("shared_carveouts_bytes");
    if (!std::is_sorted(info.shared_carveouts_bytes.begin(), info.shared_carveouts_bytes.end())) {
      fields.fail("shared_carveouts_bytes", "must ascend (the smallest that fits is searched)");
    }
  }
  info.sm_clock_hz = fields.number("sm_clock_hz", 1);
  info.memory_clock_hz = fields.number("memory_clock_hz", 1);
  info.memory_bus_bits = static_cast<int>(fields.count("memory_bus_bits", 1));
  info.memory_data_rate = static_cast<int>(fields.count("memory_data_rate", 1));
  info.sm_partition_instruction_caches = fields.flag_or("sm_partition_instruction_caches", false);
  info.ecc = fields.flag_or("ecc", false);
  info.vbios = fields.text_or("vbios", "");
  info.driver_version = fields.text_or("driver_version", "");
  info.runtime_version = fields.text_or("runtime_version", "");
  fields.finish();
  return info;
}

ChipModel read_chip(Fields fields) {
  ChipModel chip;
  chip.gpcs = static_cast<int>(fields.count("gpcs", 1));
  chip.tpcs_per_gpc = static_cast<int>(fields.count("tpcs_per_gpc", 1));
  chip.sms_per_tpc = static_cast<int>(fields.count("sms_per_tpc", 1));
  const int all = chip.gpcs * chip.tpcs_per_gpc;
  chip.enabled_tpcs =
      static_cast<int>(fields.count_or("enabled_tpcs", 1, static_cast<std::uint32_t>(all)));
  chip.min_tpcs_per_gpc = static_cast<int>(fields.count_or("min_tpcs_per_gpc", 1, 1));
  if (chip.enabled_tpcs > all || chip.enabled_tpcs < chip.gpcs * chip.min_tpcs_per_gpc) {
    fields.fail("enabled_tpcs", "does not fit gpcs, tpcs_per_gpc and min_tpcs_per_gpc");
  }
  chip.numbering = fields.one_of<Numbering>(
      "numbering", {{"tpc_major", Numbering::tpc_major}, {"round_robin", Numbering::round_robin}});
  fields.finish();
  return chip;
}

ClockModel read_clock(Fields fields) {
  ClockModel clock;
  clock.empty_window_cycles = fields.count("empty_window_cycles", 1);
  clock.sink_window_cycles = fields.count("sink_window_cycles", 1);
  clock.granularity_cycles = fields.count_or("granularity_cycles", 1, 1);
  clock.scope = read_scope(fields, "scope");
  clock.globaltimer_step_ns = fields.count("globaltimer_step_ns", 1);
  clock.loop_cycles = fields.count_or("loop_cycles", 0, 0);
  fields.finish();
  return clock;
}

NoiseModel read_noise(Fields fields) {
  NoiseModel noise;
  noise.outlier_probability = fields.number("outlier_probability", 0);
  noise.outlier_min_cycles = fields.count("outlier_min_cycles", 0);
  noise.outlier_max_cycles = fields.count("outlier_max_cycles", 0);
  noise.clock_jitter_cycles = fields.number("clock_jitter_cycles", 0);
  if (noise.outlier_probability > 1) fields.fail("outlier_probability", "must be at most 1");
  if (noise.outlier_max_cycles < noise.outlier_min_cycles) {
    fields.fail("outlier_max_cycles", "must not lie below outlier_min_cycles");
  }
  fields.finish();
  return noise;
}

json parse_json(const std::string& text, const std::string& origin) {
  try {
    return json::parse(text);
  } catch (const json::parse_error& error) {
    throw ConfigError(origin + " is no JSON (a model is a JSON file): " + error.what());
  }
}

}  // namespace

Model parse_model(const std::string& text, const std::string& origin) {
  const json root = parse_json(text, origin);
  Fields fields(root, origin);
  Model model;
  model.name = origin;
  model.source = fields.text("source");
  model.device = read_device(fields.object("device"));
  model.chip = read_chip(fields.object("chip"));
  model.device.sm_count = model.chip.enabled_tpcs * model.chip.sms_per_tpc;
  model.clock = read_clock(fields.object("clock"));
  model.noise = read_noise(fields.object("noise"));
  model.pages = read_pages(fields.object("pages"));
  for (const Fields& item : fields.objects("caches")) {
    model.caches.push_back(read_cache(item, model.device));
  }
  if (fields.has("partitions")) model.partitions = read_partitions(fields.object("partitions"));
  if (fields.has("slices")) model.slices = read_slices(fields.object("slices"));
  read_paths(fields.object("paths"), model);
  model.dram = read_dram(fields.object("dram"));
  model.throughput = read_throughput(fields.object("throughput"));
  model.shared = read_shared(fields.object("shared"));
  model.lsu = read_lsu(fields.object("lsu"));
  model.watchdog_s = fields.number_or("watchdog_s", 0.001, model.watchdog_s);
  fields.finish();
  return model;
}

}  // namespace sonde::sim
