// Puts together what the families of metrics ought to say.
#include "sim/score/declared_suite.hpp"

#include <algorithm>

namespace sonde::test {
namespace {

using Values = std::vector<DeclaredValue>;

// A stream is held up if it takes so many times as long as alone (docs/methods/topology.md).
constexpr double late = 1.03;

const std::vector<std::string> texture_names{"texture_l1", "texture_l2"};
const std::vector<std::string> constant_names{"constant_l1", "constant_l2", "constant_l3"};

std::vector<std::string> code_names(const sim::Model& model) {
  std::vector<std::string> names{"instruction_l1", "instruction_l2", "instruction_l3"};
  if (model.device.sm_partition_instruction_caches) names.insert(names.begin(), "instruction_l0");
  return names;
}

/// Places of a path's caches before the L2.
std::vector<std::size_t> before_l2(const sim::Model& model, LoadPath kind) {
  const auto& path = model.paths[static_cast<std::size_t>(kind)];
  std::vector<std::size_t> caches;
  for (std::size_t i = 0; path && i < path->caches.size(); ++i) {
    if (model.caches[path->caches[i]].name == "l2") break;
    caches.push_back(path->caches[i]);
  }
  return caches;
}

/// The caches of a path by these names. Of one that holds the whole space of the path, and of those
/// behind it, nothing more is seen.
/// @param space_bytes 0: there is no end
void declare_levels(Values& values, const sim::Model& model, LoadPath kind,
                    const std::vector<std::string>& names, std::uint64_t space_bytes,
                    std::uint64_t carveout_bytes) {
  const std::vector<std::size_t> caches = before_l2(model, kind);
  bool is_full = false;
  std::uint64_t asked_bytes = 0;
  for (std::size_t level = 0; level < names.size(); ++level) {
    const sim::CacheModel* cache = level < caches.size() ? &model.caches[caches[level]] : nullptr;
    if (cache != nullptr && space_bytes > 0) {
      const std::uint64_t size_bytes = cache->size_bytes(cache->geometry_for(carveout_bytes));
      is_full = is_full || size_bytes >= space_bytes;
    }
    const std::size_t first = values.size();
    declare_cache(values, "cache." + names[level], cache, carveout_bytes, asked_bytes);
    if (cache != nullptr) asked_bytes = std::max(asked_bytes, cache->fetch_bytes);
    for (std::size_t i = first; is_full && i < values.size(); ++i) values[i].excluded = true;
  }
}

/// TLBs of textures alone, but for those whose misses cost nothing: the next one answers as soon.
std::vector<const sim::CacheModel*> texture_tlbs(const sim::Model& model) {
  std::vector<const sim::CacheModel*> tlbs;
  const auto& textures = model.paths[static_cast<std::size_t>(LoadPath::texture_1d)];
  for (std::size_t level = 0; textures && level < model.pages.path_tlbs.size(); ++level) {
    if (textures->dram.at(level + 1) > textures->dram.at(level))
      tlbs.push_back(&model.pages.path_tlbs[level]);
  }
  return tlbs;
}

void declare_texture_tlbs(Values& values, const sim::Model& model) {
  const std::vector<const sim::CacheModel*> tlbs = texture_tlbs(model);
  for (std::size_t level = 0; level < 2; ++level) {
    const std::string name = level == 0 ? "tlb.texture_l1" : "tlb.texture_l2";
    if (level >= tlbs.size()) {
      for (const char* metric : {".entries", ".entry_bytes"})
        values.push_back({name + metric, Absent{}});
      continue;
    }
    const sim::CacheModel& tlb = *tlbs[level];
    values.push_back({name + ".entries", static_cast<double>(tlb.geometries.front().lines())});
    values.push_back({name + ".entry_bytes", static_cast<double>(tlb.line_bytes)});
  }
}

void declare_clock(Values& values, const sim::Model& model) {
  const sim::ClockModel& clock = model.clock;
  const double step = clock.granularity_cycles;
  values.push_back({"clock.granularity_cycles", step});
  values.push_back({"clock.globaltimer_step_ns", static_cast<double>(clock.globaltimer_step_ns)});
  const double window = clock.sink_window_cycles;
  values.push_back({"clock.window_cycles", DeclaredRange{window - step, window + step}});
}

/// Whether anything tells the TPCs; one of a single SM is no group.
bool shows_tpcs(const sim::Model& model) {
  if (model.chip.sms_per_tpc == 1) return false;
  // Clusters of two name TPCs only where larger ones reach beyond them.
  const bool by_clusters = model.device.max_cluster_blocks > model.chip.sms_per_tpc &&
                           model.chip.cluster_order == sim::ClusterOrder::by_tpc &&
                           model.chip.min_tpcs_per_gpc > 1;
  // Three SMs on one clock may be a GPC.
  const bool by_clocks = model.clock.scope == sim::Scope::tpc && model.chip.sms_per_tpc == 2;
  // SMs with numbers in a row that hold each other up.
  const sim::ThroughputModel& rates = model.units.throughput;
  const bool by_ports = model.chip.sms_per_tpc == 2 &&
                        late * rates.tpc_port_bytes_per_cycle < 2 * rates.sm_port_bytes_per_cycle;
  return by_clusters || by_ports || by_clocks;
}

void declare_groups(Values& values, const sim::Model& model) {
  values.push_back({"topology.sm_count", static_cast<double>(model.device.sm_count)});
  values.push_back({"topology.tpc_count", static_cast<double>(model.chip.enabled_tpcs)});
  values.back().excluded = !shows_tpcs(model);
  values.push_back({"topology.gpc_count", static_cast<double>(model.chip.gpcs)});
  values.back().excluded = !shows_gpcs(model);
}

}  // namespace

bool shows_gpcs(const sim::Model& model) {
  const sim::ChipModel& chip = model.chip;
  if (chip.min_tpcs_per_gpc * chip.sms_per_tpc <= 3) return false;
  const bool by_clusters = model.device.max_cluster_blocks > chip.sms_per_tpc;
  return by_clusters || (model.clock.scope == sim::Scope::gpc && chip.gpcs > 1);
}

NamedCaches name_caches(const sim::Model& model) {
  NamedCaches named;
  const auto add = [&](LoadPath kind, const std::vector<std::string>& names) {
    const std::vector<std::size_t> caches = before_l2(model, kind);
    for (std::size_t level = 0; level < std::min(caches.size(), names.size()); ++level) {
      named[names[level]] = caches[level];
    }
  };
  add(LoadPath::all_levels, {"l1"});
  add(LoadPath::read_only, {"readonly"});
  add(LoadPath::texture_1d, texture_names);
  add(LoadPath::constant, constant_names);
  add(LoadPath::instruction, code_names(model));
  if (const sim::CacheModel* l2 = model.find_cache("l2")) {
    named["l2"] = static_cast<std::size_t>(l2 - model.caches.data());
  }
  return named;
}

void declare_side_caches(Values& values, const sim::Model& model, std::uint64_t carveout_bytes) {
  declare_levels(values, model, LoadPath::texture_1d, texture_names, 0, carveout_bytes);
  declare_levels(values, model, LoadPath::constant, constant_names, constant_bank_bytes,
                 carveout_bytes);
  declare_levels(values, model, LoadPath::instruction, code_names(model), 0, carveout_bytes);
  if (!model.device.sm_partition_instruction_caches) {
    declare_cache(values, "cache.instruction_l0", nullptr, carveout_bytes);
  }
}

std::vector<std::uint64_t> recordable_carveouts(const Device& device) {
  constexpr std::uint64_t least_record = 1024;
  std::vector<std::uint64_t> carveouts;
  for (std::uint64_t carveout : device.info().shared_carveouts_bytes) {
    if (device.recordable_accesses(carveout) >= least_record) carveouts.push_back(carveout);
  }
  return carveouts;
}

std::vector<DeclaredValue> declared_suite(const sim::Model& model, std::uint64_t seed,
                                          const Device& device) {
  const sim::Die die = sim::make_die(model, {}, sim::die_seed(seed, 0));
  const std::vector<std::uint64_t> carveouts = recordable_carveouts(device);
  const std::uint64_t chosen =
      carveouts.empty() ? model.device.shared_bytes_per_sm : carveouts.front();
  Values values = declared_values(model, chosen, carveouts);
  declare_side_caches(values, model, chosen);
  declare_texture_tlbs(values, model);
  declare_latencies(values, model, die);
  declare_sharing(values, model, die);
  declare_clock(values, model);
  declare_groups(values, model);
  return values;
}

}  // namespace sonde::test
