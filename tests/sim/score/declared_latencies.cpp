// Latencies that a model declares, for all SMs of a die at once: jobs measure on several.
#include "sim/score/declared_suite.hpp"

#include <algorithm>
#include <cmath>

namespace sonde::test {
namespace {

using Values = std::vector<DeclaredValue>;

/// Of one path.
class PathTruth {
 public:
  PathTruth(const sim::Model& model, const sim::Die& die, const sim::PathModel& path)
      : model_(model), die_(die), path_(path) {}

  /// A hit of the cache at a place of the path; near and far where the last one is divided.
  DeclaredRange hit(std::size_t level, std::size_t outcome) const {
    const double near = path_.hit[level][outcome];
    const bool divided = model_.partitions.count > 1 && level + 1 == path_.caches.size();
    const bool from_far = divided && (!model_.partitions.replicate || path_.at_home);
    return range(near, from_far ? path_.far_hit[outcome] : near, path_.caches[level]);
  }
  DeclaredRange near_hit() const { return range(path_.hit.back()[0], path_.hit.back()[0], last()); }
  DeclaredRange far_hit() const { return range(path_.far_hit[0], path_.far_hit[0], last()); }
  DeclaredRange dram(std::size_t outcome) const {
    const sim::LatencyRow& far = path_.dram_far.empty() ? path_.dram : path_.dram_far;
    return range(path_.dram[outcome], far[outcome], last());
  }
  DeclaredRange near_dram() const { return range(path_.dram[0], path_.dram[0], last()); }
  DeclaredRange far_dram() const { return range(path_.dram_far[0], path_.dram_far[0], last()); }

 private:
  std::size_t last() const {
    return path_.caches.empty() ? model_.caches.size() : path_.caches.back();
  }

  /// Two cycles or one per cent (the bar of docs/methods/latency.md), and what the clock, the
  /// slices and the SMs add.
  DeclaredRange range(double near_cycles, double far_cycles, std::size_t cache) const {
    double least = 0, most = 0;
    if (cache < model_.caches.size()) {
      const auto& offsets = die_.cache_offset_cycles[cache];
      least = *std::min_element(offsets.begin(), offsets.end());
      most = *std::max_element(offsets.begin(), offsets.end());
    }
    const double slices = model_.slices ? model_.slices->spread_cycles / 2 : 0;
    const double disturbed =
        model_.clock.granularity_cycles - 1 + model_.partitions.copy_cycles / 2 + slices;
    return {near_cycles + least - std::max(2.0, near_cycles / 100) - disturbed,
            far_cycles + most + std::max(2.0, far_cycles / 100) + disturbed};
  }

  const sim::Model& model_;
  const sim::Die& die_;
  const sim::PathModel& path_;
};

void add(Values& values, const std::string& metric, Declared value) {
  values.push_back({metric, std::move(value)});
}

/// Mei and Chu's patterns.
void declare_patterns(Values& values, const sim::Model& model, const sim::PathModel& path,
                      const PathTruth& truth, const std::string& prefix) {
  const std::size_t walk_cached = path.tlbs.size();
  Declared hits[3] = {Absent{}, Absent{}, Absent{}};
  if (!path.caches.empty()) {
    const sim::LatencyRow& row = path.hit.front();
    hits[0] = truth.hit(0, 0);
    if (row[walk_cached] > row[0]) {
      if (path.tlbs.size() > 1) hits[1] = truth.hit(0, 1);
      hits[2] = truth.hit(0, walk_cached);
    }
  }
  for (int i = 0; i < 3; ++i)
    add(values, prefix + "p" + std::to_string(i + 1) + "_cycles", hits[i]);
  add(values, prefix + "p4_cycles", truth.dram(0));
  const bool has_cold_walks = path.dram[walk_cached + 1] > path.dram[0];
  add(values, prefix + "p5_cycles",
      has_cold_walks ? Declared(truth.dram(walk_cached + 1)) : Absent{});
  add(values, prefix + "p6_cycles",
      model.pages.window_bytes > 0 ? Declared(truth.dram(walk_cached + 2)) : Absent{});
}

/// The place of the L2 on a path, or of the end.
std::size_t l2_of(const sim::Model& model, const sim::PathModel& path) {
  const auto found = std::ranges::find_if(
      path.caches, [&](std::size_t cache) { return model.caches[cache].name == "l2"; });
  return static_cast<std::size_t>(found - path.caches.begin());
}

void declare_path(Values& values, const sim::Model& model, const sim::PathModel& path,
                  const PathTruth& truth, const std::string& prefix, bool may_have_first) {
  const std::size_t l2 = l2_of(model, path);
  if (may_have_first) {
    add(values, prefix + "l1_cycles", l2 > 0 ? Declared(truth.hit(0, 0)) : Absent{});
  }
  add(values, prefix + "l2_cycles",
      l2 < path.caches.size() ? Declared(truth.hit(l2, 0)) : Absent{});
  add(values, prefix + "dram_cycles", truth.dram(0));
}

/// Copies leave nothing to be seen of far hits.
void declare_partitions(Values& values, const sim::Model& model, const PathTruth& truth) {
  const char* metrics[] = {"latency.l2_near_cycles", "latency.l2_far_cycles",
                           "latency.dram_near_cycles", "latency.dram_far_cycles"};
  if (model.partitions.count == 1) {
    for (const char* metric : metrics) add(values, metric, Absent{});
    return;
  }
  if (!model.partitions.replicate) {
    add(values, metrics[0], truth.near_hit());
    add(values, metrics[1], truth.far_hit());
    add(values, "cache.l2.far_hit_latency_cycles", truth.far_hit());
  }
  add(values, metrics[2], truth.near_dram());
  add(values, metrics[3], truth.far_dram());
}

void declare_hits_of_caches(Values& values, const sim::Model& model, const sim::Die& die) {
  const std::pair<LoadPath, std::string_view> paths[] = {{LoadPath::all_levels, "l1"},
                                                         {LoadPath::read_only, "readonly"},
                                                         {LoadPath::texture_1d, "texture_"},
                                                         {LoadPath::constant, "constant_"},
                                                         {LoadPath::instruction, "instruction_"},
                                                         {LoadPath::past_l1, "l2"}};
  const NamedCaches names = name_caches(model);
  for (const auto& [kind, kin] : paths) {
    const auto& path = model.paths[static_cast<std::size_t>(kind)];
    if (!path) continue;
    const PathTruth truth(model, die, *path);
    for (const auto& [name, cache] : names) {
      const auto place = std::ranges::find(path->caches, cache);
      if (!name.starts_with(kin) || place == path->caches.end()) continue;
      add(values, "cache." + name + ".hit_latency_cycles",
          truth.hit(static_cast<std::size_t>(place - path->caches.begin()), 0));
    }
  }
}

}  // namespace

void declare_latencies(Values& values, const sim::Model& model, const sim::Die& die) {
  for (LoadPath kind :
       {LoadPath::all_levels, LoadPath::past_l1, LoadPath::read_only, LoadPath::uncached}) {
    const auto& path = model.paths[static_cast<std::size_t>(kind)];
    if (!path) continue;
    const PathTruth truth(model, die, *path);
    const bool is_plain = kind == LoadPath::all_levels;
    const bool is_past = kind == LoadPath::past_l1;
    declare_path(values, model, *path, truth, "latency." + std::string(to_text(kind)) + ".",
                 is_plain || kind == LoadPath::read_only);
    if (is_plain) {
      const bool has_first = l2_of(model, *path) > 0;
      add(values, "latency.l1_cycles", has_first ? Declared(truth.hit(0, 0)) : Absent{});
      declare_patterns(values, model, *path, truth, "latency.");
    }
    if (!is_past) continue;
    const std::size_t l2 = l2_of(model, *path);
    add(values, "latency.l2_cycles",
        l2 < path->caches.size() ? Declared(truth.hit(l2, 0)) : Absent{});
    add(values, "latency.dram_cycles", truth.dram(0));
    declare_patterns(values, model, *path, truth, "latency.cg.");
    declare_partitions(values, model, truth);
  }
  declare_hits_of_caches(values, model, die);
}

}  // namespace sonde::test
