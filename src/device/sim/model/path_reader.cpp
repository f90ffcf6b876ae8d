// Reads the load paths of a model file: which caches and TLBs each goes through, and how long every
// outcome takes. MemorySystem routes loads along them.
#include "device/sim/model/limits.hpp"
#include "device/sim/model/readers.hpp"

#include <bit>

namespace sonde::sim {
namespace {

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
  if (latencies.is_number(key))
    return LatencyRow(outcomes.size(), latencies.count(key, some_cycles));
  return latencies.object(key, [&](Fields& fields) {
    LatencyRow row;
    for (const std::string& name : outcomes) row.push_back(fields.count(name, some_cycles));
    return row;
  });
}

/// Without "tlbs" a path goes through all that are no path's own.
std::vector<std::size_t> read_tlb_places(Fields& fields, const PageModel& pages) {
  std::vector<std::size_t> places;
  if (!fields.has("tlbs")) {
    for (std::size_t place = 0; place < pages.tlbs.size(); ++place) places.push_back(place);
    return places;
  }
  for (const std::string& name : fields.list<std::string>("tlbs")) {
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
  for (const std::string& name : fields.list<std::string>("caches")) {
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

}  // namespace

Tile::Tile(Fields& fields) : Section(fields) {
  if (!std::has_single_bit(width_bytes) || width_bytes > texture_row_bytes) {
    fields.fail("width_bytes", "must be a power of two of at most " +
                                   std::to_string(texture_row_bytes) + " (the row of a texture)");
  }
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

}  // namespace sonde::sim
