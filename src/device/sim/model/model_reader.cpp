// Reads the JSON text of a model: the chip, clocks and load paths here, the rest by other readers.
#include "base/error.hpp"
#include "device/sim/model/limits.hpp"
#include "device/sim/model/model_files.hpp"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <bit>
#include <set>
#include <utility>

namespace sonde::sim {
namespace {

using nlohmann::json;

DeviceInfo read_device(Fields& fields) {
  DeviceInfo info;
  info.name = fields.text("name");
  info.compute_major = fields.count<int>("compute_major", {1, limits::version});
  info.compute_minor = fields.count<int>("compute_minor", {0, limits::version});
  info.memory_bytes = fields.bytes("memory_bytes", limits::memory_bytes);
  info.l2_bytes = fields.bytes("l2_bytes", limits::on_chip_bytes, 0);
  info.max_threads_per_block = fields.count<int>("max_threads_per_block", {32, limits::threads});
  info.max_threads_per_sm = fields.count<int>("max_threads_per_sm", {32, limits::threads});
  info.max_cluster_blocks = fields.count<int>("max_cluster_blocks", {0, limits::blocks}, 0);
  info.shared_bytes_per_block = fields.bytes("shared_bytes_per_block", limits::on_chip_bytes);
  info.shared_bytes_per_sm = fields.bytes("shared_bytes_per_sm", limits::on_chip_bytes);
  info.reserved_shared_bytes_per_block =
      fields.bytes("reserved_shared_bytes_per_block", limits::on_chip_bytes, 0);
  if (fields.has("shared_carveouts_bytes")) {
    info.shared_carveouts_bytes = fields.list("shared_carveouts_bytes", [](const Value& size) {
      return size.bytes(limits::on_chip_bytes, 0);
    });
    if (!std::is_sorted(info.shared_carveouts_bytes.begin(), info.shared_carveouts_bytes.end())) {
      fields.fail("shared_carveouts_bytes", "must ascend (the smallest that fits is searched)");
    }
  }
  info.sm_clock_hz = fields.number("sm_clock_hz", {1, limits::hertz});
  info.memory_clock_hz = fields.number("memory_clock_hz", {1, limits::hertz});
  info.memory_bus_bits = fields.count<int>("memory_bus_bits", {1, limits::bus_bits});
  info.memory_data_rate = fields.count<int>("memory_data_rate", {1, limits::data_rate});
  // Volta was the first GPU with them (Jia 2018), so models of later GPUs need not say so.
  info.sm_partition_instruction_caches =
      fields.flag("sm_partition_instruction_caches", info.compute_major >= 7);
  info.ecc = fields.flag("ecc");
  info.vbios = fields.text("vbios", "");
  info.driver_version = fields.text("driver_version", "");
  info.runtime_version = fields.text("runtime_version", "");
  return info;
}

/// Refuses an object that has the same key twice, as one value would be lost, and lists or objects
/// that are nested too deeply.
json parse_json(const std::string& text, const std::string& origin) {
  std::vector<std::set<std::string>> open;  // keys of each object that has not ended
  const auto check = [&](int depth, json::parse_event_t event, const json& parsed) {
    if (depth > limits::depth) throw ConfigError(origin + " holds lists in lists without end");
    if (event == json::parse_event_t::object_start) open.emplace_back();
    if (event == json::parse_event_t::object_end) open.pop_back();
    if (event == json::parse_event_t::key && !open.back().insert(parsed).second) {
      throw ConfigError(origin + " has the key " + parsed.dump() +
                        " twice in one object (one of its values would be lost) remove one");
    }
    return true;
  };
  try {
    return json::parse(text, check);
  } catch (const json::exception& error) {
    throw ConfigError(origin + " is no JSON (a model is a JSON file): " + error.what());
  }
}

/// Ports belong to caches of constants alone, not to the L2 of global memory.
void check_constant_ports(const Model& model, const std::string& origin) {
  if (!model.units.constants) return;
  for (const ConstantPort& port : model.units.constants->ports) {
    const CacheModel* cache = model.find_cache(port.cache);
    if (cache != nullptr && cache->addressing == Addressing::virtual_address) continue;
    throw ConfigError(origin + ".constants.ports names '" + port.cache +
                      "', which is no virtual cache (its port would delay nothing)");
  }
}

/// The file, with all that its base has and the file does not change.
json read_with_base(const std::string& text, const std::string& origin) {
  json root = parse_json(text, origin);
  if (!root.is_object() || !root.contains("base")) return root;
  const json name = std::exchange(root["base"], nullptr);
  const auto base = name.is_string() ? find_shipped(name.get<std::string>()) : std::nullopt;
  if (!base) {
    throw ConfigError(origin + ".base is no shipped model (it has all that the file leaves out)");
  }
  json whole = read_with_base(*base, origin);
  whole.merge_patch(root);
  return whole;
}

/// A path that is `like` another takes from it all that it leaves out, but not the tile.
void complete_paths(json& paths, const std::string& origin) {
  for (auto& [name, path] : paths.items()) {
    if (!path.is_object() || !path.contains("like")) continue;
    const json& like = path["like"];
    const auto other = paths.find(like.is_string() ? like.get<std::string>() : "");
    if (other == paths.end() || !other->is_object() || other->contains("like")) {
      throw ConfigError(origin + ".paths." + name + ".like names no path that says what it is");
    }
    json whole = *other;
    whole.erase("tile");
    whole.merge_patch(path);
    whole.erase("like");
    path = std::move(whole);
  }
}

AddressSpace space_of(LoadPath path) {
  if (path == LoadPath::constant) return AddressSpace::constant;
  return path == LoadPath::instruction ? AddressSpace::code : AddressSpace::global;
}

/// Names of the translation outcomes of a path, in the order of a LatencyRow; none without
/// translation.
std::vector<std::string> outcome_names(const PathModel& path, const PageModel& pages) {
  std::vector<std::string> names;
  if (path.space != AddressSpace::global) return names;
  for (std::size_t place : path.tlbs) names.push_back("tlb_" + pages.tlb(place).name + "_hit");
  names.insert(names.end(), {"walk_cached", "walk_cold"});
  if (pages.window_bytes > 0) names.push_back("window_switch");
  return names;
}

LatencyRow read_row(Fields& latencies, const std::string& key,
                    const std::vector<std::string>& outcomes) {
  if (outcomes.empty()) return {latencies.count(key, some_cycles)};
  if (latencies.at(key).json().is_number())
    return LatencyRow(outcomes.size(), latencies.count(key, some_cycles));
  return latencies.object(key, [&](Fields& fields) {
    LatencyRow row;
    for (const std::string& name : outcomes) row.push_back(fields.count(name, some_cycles));
    return row;
  });
}

/// Without the key "tlbs" a path uses all of PageModel::tlbs.
std::vector<std::size_t> read_tlb_places(Fields& fields, const PageModel& pages) {
  std::vector<std::size_t> places;
  if (!fields.has("tlbs")) {
    for (std::size_t place = 0; place < pages.tlbs.size(); ++place) places.push_back(place);
    return places;
  }
  for (const std::string& name : fields.list("tlbs", &Value::text)) {
    std::size_t place = 0;
    const std::size_t count = pages.tlbs.size() + pages.path_tlbs.size();
    while (place < count && pages.tlb(place).name != name) ++place;
    if (place == count) fields.fail("tlbs", "names '" + name + "', which is no TLB");
    places.push_back(place);
  }
  return places;
}

std::vector<std::size_t> read_cache_places(Fields& fields, const Model& model) {
  std::vector<std::size_t> places;
  bool translated = false;
  for (const std::string& name : fields.list("caches", &Value::text)) {
    const CacheModel* cache = model.find_cache(name);
    if (cache == nullptr) fields.fail("caches", "names '" + name + "', which is no cache");
    if (cache->addressing == Addressing::virtual_address && translated) {
      fields.fail("caches", "names '" + name + "', which is virtual, behind a physical one");
    }
    translated = cache->addressing == Addressing::physical_address;
    places.push_back(static_cast<std::size_t>(cache - model.caches.data()));
  }
  return places;
}

PathModel read_path(Fields& fields, LoadPath kind, const Model& model) {
  PathModel path;
  path.space = space_of(kind);
  path.at_home = kind == LoadPath::atomic;
  if (path.space == AddressSpace::global) path.tlbs = read_tlb_places(fields, model.pages);
  if (kind == LoadPath::texture_2d) path.tile = fields.object_or_none<Tile>("tile");
  const std::vector<std::string> outcomes = outcome_names(path, model.pages);
  path.caches = read_cache_places(fields, model);
  if (kind == LoadPath::instruction && !path.caches.empty()) {
    path.fetches_ahead = fields.flag("fetches_ahead");
  }
  fields.object("latency_cycles", [&](Fields& latencies) {
    for (std::size_t place : path.caches) {
      path.hit.push_back(read_row(latencies, model.caches[place].name, outcomes));
    }
    path.dram = read_row(latencies, "dram", outcomes);
    if (model.partitions.count > 1) {
      path.far_hit = read_row(latencies, "far", outcomes);
      path.dram_far = read_row(latencies, "dram_far", outcomes);
    }
    return 0;
  });
  return path;
}

PathModels read_paths(Fields& fields, const Model& model) {
  PathModels paths;
  for (std::size_t i = 0; i < load_path_count; ++i) {
    const auto kind = static_cast<LoadPath>(i);
    const std::string name(to_text(kind));
    if (!fields.has(name)) continue;
    paths[i] = fields.object(name, [&](Fields& path) { return read_path(path, kind, model); });
  }
  return paths;
}

}  // namespace

ChipModel::ChipModel(Fields& fields) : Section(fields) {
  if (enabled_tpcs > gpcs * tpcs_per_gpc || enabled_tpcs < gpcs * min_tpcs_per_gpc) {
    fields.fail("enabled_tpcs", "does not fit gpcs, tpcs_per_gpc and min_tpcs_per_gpc");
  }
  if (enabled_tpcs * sms_per_tpc > limits::sms) {
    fields.fail("sms_per_tpc", fmt::format("makes more than {} SMs", limits::sms));
  }
}

NoiseModel::NoiseModel(Fields& fields) : Section(fields) {
  if (outlier_max_cycles < outlier_min_cycles) {
    fields.fail("outlier_max_cycles", "must not lie below outlier_min_cycles");
  }
}

Tile::Tile(Fields& fields) : Section(fields) {
  if (!std::has_single_bit(width_bytes) || width_bytes > texture_row_bytes) {
    fields.fail("width_bytes", "must be a power of two of at most " +
                                   std::to_string(texture_row_bytes) + " (the row of a texture)");
  }
}

json read_whole(const std::string& text, const std::string& origin) {
  json root = read_with_base(text, origin);
  if (root.is_object() && root.contains("paths") && root["paths"].is_object()) {
    complete_paths(root["paths"], origin);
  }
  return root;
}

Model parse_model(const std::string& text, const std::string& origin) {
  const json root = read_whole(text, origin);
  Fields fields(Value(root, origin));
  Model model;
  model.name = origin;
  model.source = fields.text("source");
  model.device = fields.object("device", read_device);
  model.chip = fields.object<ChipModel>("chip");
  model.device.sm_count = model.chip.enabled_tpcs * model.chip.sms_per_tpc;
  model.clock = fields.object<ClockModel>("clock");
  model.noise = fields.object<NoiseModel>("noise");
  model.partitions = fields.object_or_default<Partitions>("partitions");
  model.slices = fields.object_or_none<Slices>("slices");
  read_memory(fields, model);
  model.paths = fields.object("paths", [&](Fields& paths) { return read_paths(paths, model); });
  model.units = UnitsModel(fields);
  check_constant_ports(model, origin);
  model.watchdog_s = fields.number("watchdog_s", {0.001, limits::watchdog_s}, model.watchdog_s);
  fields.finish();
  return model;
}

}  // namespace sonde::sim
