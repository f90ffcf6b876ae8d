// Opens routes: arrays are made when first needed, then kept for later probes.
#include "device/sim/memory/routes.hpp"

#include <algorithm>

namespace sonde::sim {
namespace {

Source make_source(const LatencyRow& row, std::int64_t more_cycles, double jitter_cycles) {
  Source source{.latency_cycles = row, .jitter_cycles = jitter_cycles};
  for (std::uint32_t& cycles : source.latency_cycles) cycles = add_cycles(cycles, more_cycles);
  return source;
}

/// Whether only code passes this cache.
bool holds_code_alone(const Model& model, std::size_t cache) {
  return std::ranges::none_of(model.paths, [&](const std::optional<PathModel>& path) {
    return path && path->space != AddressSpace::code &&
           std::ranges::find(path->caches, cache) != path->caches.end();
  });
}

}  // namespace

Arrays::Arrays(const Model& model, const Die& die) : model_(model), die_(die) {
  caches_.resize(model.caches.size());
  tlbs_.resize(model.pages.tlbs.size() + model.pages.path_tlbs.size());
  const auto partitions = static_cast<std::size_t>(model.partitions.count);
  for (auto& instances : caches_) instances.resize(std::max(die.sms.size(), partitions));
  for (auto& instances : tlbs_) instances.resize(die.sms.size());
  for (std::size_t cache = 0; cache < caches_.size(); ++cache)
    of_code_alone_.push_back(holds_code_alone(model, cache));
}

void Arrays::begin_probe(std::uint64_t seed) {
  ++probe_;
  seed_ = seed;
}

CacheArray* Arrays::ready(std::vector<Instance>& instances, int number, const CacheModel& model,
                          const Geometry& geometry, bool keeps) {
  Instance& instance = instances[static_cast<std::size_t>(number)];
  if (instance.geometry != &geometry) {
    const Slices* slices = model_.slices ? &*model_.slices : nullptr;
    const SetIndex& index = indexes_.try_emplace(&geometry, geometry, slices).first->second;
    instance.array = std::make_unique<CacheArray>(model, geometry, index);
    instance.geometry = &geometry;
    instance.probe = 0;
  }
  if (instance.probe != probe_ && !(keeps && instance.probe != 0)) {
    instance.array->clear(derive_seed(seed_, model.name + " victims " + std::to_string(number)));
    instance.probe = probe_;
  }
  return instance.array.get();
}

CacheArray* Arrays::ready_cache(std::size_t cache, int number, const Geometry& geometry) {
  return ready(caches_[cache], number, model_.caches[cache], geometry, of_code_alone_[cache]);
}

const Geometry& Arrays::geometry_of(int sm, std::size_t cache, std::uint64_t shared_bytes) {
  const Geometry& geometry = model_.caches[cache].geometry_for(shared_bytes);
  const auto lost = std::ranges::find(die_.lost_ways, sm, &LostWay::sm);
  const auto& plain = model_.paths[static_cast<std::size_t>(LoadPath::all_levels)];
  if (lost == die_.lost_ways.end() || !plain || plain->caches.front() != cache) return geometry;
  const auto [place, is_new] = faulty_geometries_.try_emplace({sm, &geometry}, geometry);
  if (is_new) {
    std::vector<std::uint32_t>& ways = place->second.ways_per_set;
    for (std::uint32_t set = 0; set < ways.size(); ++set) {
      if (!lost->set || *lost->set == set) --ways[set];
    }
  }
  return place->second;
}

Level Arrays::open_level(int sm, std::size_t cache, const LatencyRow& hit,
                         std::uint64_t shared_bytes) {
  const auto at = static_cast<std::size_t>(sm);
  const CacheModel& model = model_.caches[cache];
  const Geometry& geometry = geometry_of(sm, cache, shared_bytes);
  const int number = instance_of(die_.sms[at], sm, model.scope);
  const bool split = model.scope == Scope::partition && model_.partitions.count > 1;
  const std::int64_t more_cycles =
      std::int64_t{die_.cache_offset_cycles[cache][at]} + die_.slow_sm_cycles[at];
  CacheArray* near = ready_cache(cache, number, geometry);
  ByPartition by_home;
  by_home.fill(near);
  for (int home = 0; split && home < model_.partitions.count; ++home) {
    by_home[static_cast<std::size_t>(home)] = ready_cache(cache, home, geometry);
  }
  return {.array = near,
          .by_home = by_home,
          .partitioned = split,
          .prefetch = model.prefetch ? &*model.prefetch : nullptr,
          .hit = make_source(hit, more_cycles, model.jitter_cycles)};
}

Route Arrays::open_route(const PathModel& path, int sm, std::uint64_t shared_bytes) {
  const auto at = static_cast<std::size_t>(sm);
  Route route;
  route.tile = path.tile ? &*path.tile : nullptr;
  route.translated = path.space == AddressSpace::global;
  route.copied = model_.partitions.replicate && !path.at_home;
  for (std::size_t i = 0; i < path.caches.size(); ++i) {
    route.levels.push_back(open_level(sm, path.caches[i], path.hit[i], shared_bytes));
    const bool is_virtual = model_.caches[path.caches[i]].addressing == Addressing::virtual_address;
    route.virtual_levels += is_virtual ? 1 : 0;
  }
  route.level_count = route.levels.size();
  for (std::size_t i : path.tlbs) {
    const CacheModel& tlb = model_.pages.tlb(i);
    route.tlbs.push_back(
        ready(tlbs_[i], instance_of(die_.sms[at], sm, tlb.scope), tlb, tlb.geometries.front()));
  }
  std::int64_t more_cycles = die_.slow_sm_cycles[at];
  double far_jitter_cycles = 0;
  if (!path.caches.empty()) {
    const CacheModel& last = model_.caches[path.caches.back()];
    more_cycles += die_.cache_offset_cycles[path.caches.back()][at];
    far_jitter_cycles = last.jitter_cycles;
    route.shares_last = last.scope == Scope::device || last.scope == Scope::partition;
    route.sliced = model_.slices.has_value() && route.shares_last;
    const std::span<const std::int32_t> of_sides(die_.slice_offset_cycles);
    const std::size_t slices = of_sides.size() / 2;
    route.slice_cycles =
        of_sides.subspan(static_cast<std::size_t>(die_.sms[at].side) * slices, slices);
  }
  route.far_hit = make_source(path.far_hit, more_cycles, far_jitter_cycles);
  route.dram = make_source(path.dram, more_cycles, model_.units.dram.jitter_cycles);
  route.dram_far = make_source(path.dram_far, more_cycles, model_.units.dram.jitter_cycles);
  route.partition = static_cast<std::uint32_t>(die_.sms[at].partition);
  return route;
}

}  // namespace sonde::sim
