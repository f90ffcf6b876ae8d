// From a model's declaration to the values that ought to be found.
#include "sim/score/declared_structure.hpp"

#include "base/units.hpp"
#include "device/sim/memory/set_index.hpp"

#include <algorithm>
#include <functional>
#include <set>

namespace sonde::test {
namespace {

using Values = std::vector<DeclaredValue>;

// Pages of device memory are of this size at most (CUDA driver API): larger ones are not told from
// entries that cover several.
constexpr std::uint64_t largest_page_bytes = 2_MiB;

std::vector<double> descending(const std::vector<std::uint32_t>& counts) {
  std::vector<double> sorted(counts.begin(), counts.end());
  std::sort(sorted.begin(), sorted.end(), std::greater<>());
  return sorted;
}

Declared declared_chances(const sim::Geometry& geometry) {
  const sim::Replacement& replacement = geometry.replacement;
  const bool weighted = replacement.policy == sim::DeclaredPolicy::weighted_ways;
  const bool draws_lots = weighted || replacement.policy == sim::DeclaredPolicy::random;
  if (!draws_lots || descending(geometry.ways_per_set).front() == 1) return Absent{};
  DeclaredChances chances;
  double sum = 0;
  for (double weight : replacement.way_weights) sum += weight;
  for (std::uint32_t ways :
       std::set<std::uint32_t>(geometry.ways_per_set.begin(), geometry.ways_per_set.end())) {
    auto& of_width = chances.by_width.emplace_back(ways, 1.0 / ways);
    for (std::size_t way = 0; weighted && way < ways; ++way) {
      of_width[way] = replacement.way_weights[way] / sum;
    }
  }
  return chances;
}

void add_sets(Values& values, const std::string& name, const sim::Geometry& geometry,
              std::uint64_t line_bytes) {
  const auto add = [&](const char* metric, Declared value) {
    values.push_back({name + metric, std::move(value)});
  };
  const auto sets = static_cast<std::uint32_t>(geometry.ways_per_set.size());
  const auto lines = static_cast<double>(geometry.lines());
  add(".sets", static_cast<double>(sets));
  add(".ways", lines / sets);
  add(".ways_per_set", descending(geometry.ways_per_set));
  add(".tag_reach_bytes", lines * static_cast<double>(line_bytes));
  add(".index_function", DeclaredIndex{geometry.index, sets, line_bytes});
  add(".replacement", DeclaredPolicy{geometry.replacement.policy, geometry.ways_per_set});
  add(".way_probability", declared_chances(geometry));
  // One way leaves nothing to choose.
  values.back().excluded = std::ranges::max(geometry.ways_per_set) == 1;
}

/// A load that misses brings all that the caches before this one ask for. Where that, or what a
/// miss brings, is several sectors, no load shows one: the smallest part that arrives is seen. Nor
/// does any show that it is one, where a miss brings more than those caches ever ask for: no part
/// of it is ever there alone, as stores bring as much or nothing, and drop whole lines
/// (CacheArrayTest.sectors_that_come_together_are_never_seen).
void add_shape(Values& values, const std::string& name, const sim::CacheModel& cache,
               double size_bytes, std::uint64_t asked_bytes = 0) {
  const std::uint64_t brought_bytes = std::max(cache.fetch_bytes, asked_bytes);
  const std::uint64_t part_bytes = std::min(brought_bytes, cache.line_bytes);
  values.push_back({name + ".size_bytes", size_bytes});
  values.push_back({name + ".line_bytes", static_cast<double>(cache.line_bytes)});
  values.push_back({.metric = name + ".sector_bytes",
                    .value = static_cast<double>(part_bytes),
                    .excluded = part_bytes > cache.sector_bytes ||
                                (asked_bytes > 0 && cache.fetch_bytes > asked_bytes)});
  values.push_back({name + ".fetch_bytes", static_cast<double>(brought_bytes)});
}

void add_carveouts(Values& values, const sim::CacheModel* l1,
                   const std::vector<std::uint64_t>& carveouts_bytes) {
  Declared shared = Absent{};
  Declared sizes = Absent{};
  if (l1 != nullptr && carveouts_bytes.size() > 1) {
    std::vector<double> sizes_bytes;
    for (std::uint64_t carveout : carveouts_bytes) {
      sizes_bytes.push_back(static_cast<double>(l1->size_bytes(l1->geometry_for(carveout))));
    }
    shared = std::vector<double>(carveouts_bytes.begin(), carveouts_bytes.end());
    sizes = std::move(sizes_bytes);
  }
  values.push_back({"cache.l1.carveout_bytes", std::move(shared)});
  values.push_back({"cache.l1.size_by_carveout_bytes", std::move(sizes)});
}

/// The masks of a function that has some.
std::optional<std::vector<std::uint64_t>> masks_of(const sim::DeclaredIndex& index) {
  if (index.kind == sim::DeclaredIndex::Kind::xor_masks) return index.masks;
  if (index.kind != sim::DeclaredIndex::Kind::bit_field) return std::nullopt;
  std::vector<std::uint64_t> masks;
  for (int bit = 0; bit < index.bits; ++bit)
    masks.push_back(std::uint64_t{1} << (index.low_bit + bit));
  return masks;
}

/// What one SM sees of the sets: of its partition, or, where partitions keep no copies, of all of
/// them: home and set together choose one of so many more. The function is left empty if it is
/// none of masks.
sim::Geometry seen_geometry(const sim::Geometry& geometry, const sim::Partitions& partitions,
                            bool& has_function) {
  has_function = true;
  if (partitions.count == 1 || partitions.replicate) return geometry;
  sim::Geometry seen = geometry;
  for (int part = 1; part < partitions.count; ++part) {
    seen.ways_per_set.insert(seen.ways_per_set.end(), geometry.ways_per_set.begin(),
                             geometry.ways_per_set.end());
  }
  auto masks = masks_of(geometry.index);
  has_function = masks.has_value();
  if (!has_function) return seen;
  masks->push_back(partitions.home_mask);
  seen.index = {};
  seen.index.kind = sim::DeclaredIndex::Kind::xor_masks;
  seen.index.masks = *std::move(masks);
  return seen;
}

/// Lines that always come and go together look like one: parities put those of each block that is
/// asked for at once into the same group of sets, all with the same blocks in the same order of
/// age.
void exclude_joined_lines(Values& values, const std::string& name, const sim::CacheModel& cache,
                          const sim::Geometry& geometry, std::uint64_t asked_bytes) {
  if (asked_bytes < cache.line_bytes || !masks_of(geometry.index)) return;
  for (const char* metric : {".line_bytes", ".sets", ".ways_per_set", ".index_function"}) {
    const auto value = std::ranges::find(values, name + metric, &DeclaredValue::metric);
    if (value != values.end()) value->excluded = true;
  }
}

/// What a cache before the L2 asks for that loads past the L1 meet, too; 0: there is none.
std::uint64_t asked_before_l2(const sim::Model& model) {
  const sim::CacheModel* before = first_cache_of(model, LoadPath::past_l1);
  return before == nullptr ? 0 : before->fetch_bytes;
}

void add_second_level(Values& values, const sim::Model& model) {
  if (model.find_cache("l2") == nullptr) {  // as of a GT200
    declare_cache(values, "cache.l2", nullptr, 0);
    values.push_back({"cache.l2.segment_bytes", Absent{}});
    return;
  }
  const sim::CacheModel& l2 = *model.find_cache("l2");
  bool has_function = true;
  const sim::Geometry geometry =
      seen_geometry(l2.geometries.front(), model.partitions, has_function);
  const auto part_bytes = static_cast<double>(l2.size_bytes(l2.geometries.front()));
  const std::uint64_t asked_bytes = asked_before_l2(model);
  add_shape(values, "cache.l2", l2, part_bytes * model.partitions.count, asked_bytes);
  if (const sim::CacheModel* l1 = first_cache_of(model, LoadPath::all_levels);
      l1 != nullptr && l2.fetch_bytes > l1->fetch_bytes) {
    std::ranges::find(values, "cache.l2.sector_bytes", &DeclaredValue::metric)->excluded = true;
  }
  const std::size_t first_of_sets = values.size();
  add_sets(values, "cache.l2", geometry, l2.line_bytes);
  // Pages lie anywhere: what is seen of sets must be seen within a block of them, which must
  // overfill them.
  const bool scattered = model.pages.mapping == sim::PageMapping::random &&
                         static_cast<double>(model.pages.block_bytes) < 2 * part_bytes;
  for (std::size_t i = first_of_sets; i < values.size(); ++i) {
    const bool is_function = values[i].metric == "cache.l2.index_function";
    values[i].excluded = scattered || (is_function && !has_function);
  }
  exclude_joined_lines(values, "cache.l2", l2, geometry, asked_bytes);
  const bool divided = model.partitions.count > 1 && model.partitions.replicate;
  values.push_back({"cache.l2.segment_bytes", divided ? Declared(part_bytes) : Absent{}});
}

/// Entries that fit, one after the other, from that one on.
std::uint64_t fitting_entries(const sim::CacheModel& tlb, std::uint64_t first) {
  const sim::Geometry& geometry = tlb.geometries.front();
  const sim::SetIndex set_of(geometry.index,
                             static_cast<std::uint32_t>(geometry.ways_per_set.size()));
  std::vector<std::uint32_t> used(geometry.ways_per_set.size());
  for (std::uint64_t entry = 0;; ++entry) {
    const std::uint32_t set = set_of((first + entry) * tlb.line_bytes);
    if (++used[set] > geometry.ways_per_set[set]) return entry;
  }
}

/// Memory lies anywhere: the fewest bytes that fit from any place on, and what all entries cover.
DeclaredRange fitting_bytes(const sim::CacheModel& tlb) {
  constexpr std::uint64_t places = 1024;
  std::uint64_t fewest = fitting_entries(tlb, 0);
  for (std::uint64_t first = 1; first < places; ++first)
    fewest = std::min(fewest, fitting_entries(tlb, first));
  return {static_cast<double>(fewest * tlb.line_bytes),
          static_cast<double>(tlb.geometries.front().lines() * tlb.line_bytes)};
}

void add_tlbs(Values& values, const sim::PageModel& pages) {
  constexpr std::array names{"tlb.l1", "tlb.l2", "tlb.l3"};
  std::uint64_t granularity_bytes = ~std::uint64_t{0};
  for (std::size_t level = 0; level < names.size(); ++level) {
    const std::string name = names[level];
    if (level >= pages.tlbs.size()) {
      for (const char* metric : {".entries", ".entry_bytes", ".reach_bytes"}) {
        values.push_back({name + metric, Absent{}});
      }
      continue;
    }
    const sim::CacheModel& tlb = pages.tlbs[level];
    const sim::Geometry& geometry = tlb.geometries.front();
    values.push_back({name + ".entries", static_cast<double>(geometry.lines())});
    values.push_back({name + ".entry_bytes", static_cast<double>(tlb.line_bytes)});
    values.push_back({name + ".reach_bytes", fitting_bytes(tlb)});
    add_sets(values, name, geometry, tlb.line_bytes);
    granularity_bytes = std::min(granularity_bytes, tlb.sector_bytes);
  }
  const bool seen = granularity_bytes <= largest_page_bytes;
  values.push_back(
      {"tlb.page_bytes", seen ? Declared(static_cast<double>(granularity_bytes)) : Absent{}});
  const auto window_bytes = static_cast<double>(pages.window_bytes);
  values.push_back({"tlb.page_window_bytes", window_bytes > 0 ? Declared(window_bytes) : Absent{}});
}

}  // namespace

void declare_cache(Values& values, const std::string& name, const sim::CacheModel* cache,
                   std::uint64_t carveout_bytes, std::uint64_t asked_bytes) {
  const bool has_sets = !name.starts_with("cache.instruction");  // that are asked for
  if (cache == nullptr) {
    for (const char* metric : {".size_bytes", ".line_bytes", ".sector_bytes", ".fetch_bytes"})
      values.push_back({name + metric, Absent{}});
    for (const char* metric : {".sets", ".ways", ".ways_per_set", ".tag_reach_bytes",
                               ".index_function", ".replacement", ".way_probability"}) {
      if (has_sets) values.push_back({name + metric, Absent{}});
    }
    return;
  }
  const sim::Geometry& geometry = cache->geometry_for(carveout_bytes);
  add_shape(values, name, *cache, static_cast<double>(cache->size_bytes(geometry)), asked_bytes);
  if (has_sets) add_sets(values, name, geometry, cache->line_bytes);
  exclude_joined_lines(values, name, *cache, geometry, asked_bytes);
}

const sim::CacheModel* first_cache_of(const sim::Model& model, LoadPath path) {
  const sim::PathModel* declared = path_of(model, path);
  if (declared == nullptr || declared->caches.empty()) return nullptr;
  const sim::CacheModel& cache = model.caches[declared->caches.front()];
  return cache.name == "l2" ? nullptr : &cache;
}

Values declared_values(const sim::Model& model, std::uint64_t chosen_carveout_bytes,
                       const std::vector<std::uint64_t>& recordable_carveouts_bytes) {
  Values values;
  const sim::CacheModel* l1 = first_cache_of(model, LoadPath::all_levels);
  declare_cache(values, "cache.l1", l1, chosen_carveout_bytes);
  add_carveouts(values, l1, recordable_carveouts_bytes);
  declare_cache(values, "cache.readonly", first_cache_of(model, LoadPath::read_only),
                chosen_carveout_bytes);
  add_second_level(values, model);
  add_tlbs(values, model.pages);
  return values;
}

}  // namespace sonde::test
