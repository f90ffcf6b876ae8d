// Reads caches, TLBs, pages, partitions and slices of a model file; bad values end here, so that
// the memory system never meets them.
#include "device/sim/memory/cache_array.hpp"
#include "device/sim/model/limits.hpp"
#include "device/sim/model/readers.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <numeric>

namespace sonde::sim {
namespace {

// More sets than any index function may give would be read outside the arrays.
void check_index(const Fields& fields, const DeclaredIndex& index, std::size_t sets) {
  std::uint64_t largest = 0;
  if (index.kind == DeclaredIndex::Kind::bit_field) largest = (1ULL << index.bits) - 1;
  if (index.kind == DeclaredIndex::Kind::xor_masks) largest = (1ULL << index.masks.size()) - 1;
  if (index.kind == DeclaredIndex::Kind::table) {
    largest = *std::max_element(index.table.begin(), index.table.end());
  }
  if (largest >= sets) {
    fields.fail("index", "reaches set " + std::to_string(largest) + ", but there are only " +
                             std::to_string(sets));
  }
}

DeclaredIndex read_index(Fields& fields) {
  using Kind = DeclaredIndex::Kind;
  DeclaredIndex index;
  index.kind = fields.one_of<Kind>("kind", {{"bit_field", Kind::bit_field},
                                            {"xor_masks", Kind::xor_masks},
                                            {"modulo", Kind::modulo},
                                            {"table", Kind::table},
                                            {"xor_modulo", Kind::xor_modulo},
                                            {"slices", Kind::slices}});
  switch (index.kind) {
    case Kind::bit_field:
      index.low_bit = fields.count<int>("low_bit", {0, 47});
      index.bits = fields.count<int>("bits", {0, 24});
      break;
    case Kind::xor_masks:
    case Kind::xor_modulo:
      index.masks = fields.mask_list("masks");
      if (index.masks.size() > 24) fields.fail("masks", "must be at most 24 masks");
      break;
    case Kind::modulo:
      index.granularity_bytes = fields.bytes("granularity_bytes", limits::entry_bytes);
      break;
    case Kind::table:
      index.granularity_bytes = fields.bytes("granularity_bytes", limits::entry_bytes);
      index.table = fields.list<std::uint32_t>("table");
      if (index.table.empty()) fields.fail("table", "must not be empty");
      break;
    case Kind::slices:
      index.within.push_back(fields.object("within", read_index));
      if (index.within.front().kind == Kind::slices) {
        fields.fail("within", "must choose among the sets of a slice");
      }
      break;
  }
  return index;
}

Replacement read_replacement(Fields& fields) {
  Replacement replacement;
  replacement.policy = fields.one_of<DeclaredPolicy>(
      "replacement", {{"lru", DeclaredPolicy::lru},
                      {"fifo", DeclaredPolicy::fifo},
                      {"tree_plru", DeclaredPolicy::tree_plru},
                      {"nru", DeclaredPolicy::nru},
                      {"clock", DeclaredPolicy::clock},
                      {"srrip", DeclaredPolicy::srrip},
                      {"brrip", DeclaredPolicy::brrip},
                      {"guarded_lru", DeclaredPolicy::guarded_lru},
                      {"set_duelling", DeclaredPolicy::set_duelling},
                      {"random", DeclaredPolicy::random},
                      {"weighted_ways", DeclaredPolicy::weighted_ways}});
  if (replacement.policy != DeclaredPolicy::weighted_ways) return replacement;
  replacement.way_weights = fields.list<double>("way_weights");
  double sum = 0;
  for (double weight : replacement.way_weights) {
    if (!(weight >= 0)) fields.fail("way_weights", "must not be negative");
    sum += weight;
  }
  if (!(sum > 0)) fields.fail("way_weights", "must hold a positive weight");
  return replacement;
}

/// Equal sets.
struct SetRun {
  std::uint32_t sets = 0;
  std::uint32_t ways = 0;
};

SetRun read_sets(Fields& fields) {
  return {.sets = fields.count("sets", {1, limits::sets}),
          .ways = fields.count("ways", {1, limits::ways})};
}

/// Ways of all sets, counted before they are written down.
std::vector<std::uint32_t> expand_sets(const Fields& fields, const std::string& key, Scope scope,
                                       const std::vector<SetRun>& runs, MemoryBudget& budget) {
  std::uint64_t sets = 0;
  std::uint32_t most_ways = 0;
  for (const SetRun& run : runs) {
    sets += run.sets;
    most_ways = std::max(most_ways, run.ways);
  }
  budget.spend_arrays(fields, key, scope, sets, most_ways);
  std::vector<std::uint32_t> ways_per_set;
  for (const SetRun& run : runs) ways_per_set.insert(ways_per_set.end(), run.sets, run.ways);
  return ways_per_set;
}

/// `sets` and `ways` for equal sets, else `ways_per_set` as runs of {sets, ways}.
Geometry read_geometry(Fields& fields, Scope scope, MemoryBudget& budget) {
  Geometry geometry;
  if (fields.has("ways_per_set")) {
    const std::vector<SetRun> runs = fields.objects("ways_per_set", read_sets);
    if (runs.empty()) fields.fail("ways_per_set", "must not be empty");
    geometry.ways_per_set = expand_sets(fields, "ways_per_set", scope, runs, budget);
  } else {
    geometry.ways_per_set = expand_sets(fields, "sets", scope, {read_sets(fields)}, budget);
  }
  geometry.index = fields.object("index", read_index);
  check_index(fields, geometry.index, geometry.ways_per_set.size());
  geometry.replacement = read_replacement(fields);
  geometry.data_lines = fields.count_or("data_lines", {1, limits::sets * limits::ways}, 0u);
  if (geometry.data_lines > geometry.lines()) {
    fields.fail("data_lines", "must not be more than there are tags (sets x ways)");
  }
  const auto weights = geometry.replacement.way_weights.size();
  for (std::uint32_t ways : geometry.ways_per_set) {
    if (weights != 0 && ways != weights) fields.fail("way_weights", "must hold one for each way");
  }
  return geometry;
}

void read_geometries(Fields& fields, CacheModel& cache, const DeviceInfo& device,
                     MemoryBudget& budget) {
  if (!fields.has("by_carveout")) {
    cache.geometries.push_back(read_geometry(fields, cache.scope, budget));
    return;
  }
  cache.geometries = fields.objects("by_carveout", [&](Fields& item) {
    Geometry geometry = read_geometry(item, cache.scope, budget);
    geometry.shared_bytes =
        item.count<std::uint64_t>("shared_kib", {0, limits::on_chip_bytes / 1024}) * 1024;
    return geometry;
  });
  const auto& carveouts = device.shared_carveouts_bytes;
  const bool matched = std::equal(
      cache.geometries.begin(), cache.geometries.end(), carveouts.begin(), carveouts.end(),
      [](const Geometry& geometry, std::uint64_t bytes) { return geometry.shared_bytes == bytes; });
  if (!matched) {
    fields.fail("by_carveout", "must list each of device.shared_carveouts_bytes, in order");
  }
}

void check_sizes(const Fields& fields, const CacheModel& cache) {
  const auto power = [&](const char* key, std::uint64_t value) {
    if (!std::has_single_bit(value)) fields.fail(key, "must be a power of two");
  };
  power("line_bytes", cache.line_bytes);
  power("sector_bytes", cache.sector_bytes);
  power("fetch_bytes", cache.fetch_bytes);
  if (cache.sector_bytes > cache.line_bytes ||
      cache.line_bytes / cache.sector_bytes > Tag::most_sectors) {
    fields.fail("sector_bytes", "must divide the line into 1 to 16 sectors");
  }
  if (cache.fetch_bytes < cache.sector_bytes || cache.fetch_bytes > cache.line_bytes) {
    fields.fail("fetch_bytes", "must lie between sector_bytes and line_bytes");
  }
}

WritePolicy read_write_policy(Fields& fields) {
  return {.hit = fields.one_of<StoreHit>("hit", {{"update", StoreHit::update},
                                                 {"invalidate", StoreHit::invalidate},
                                                 {"ignore", StoreHit::ignore}}),
          .miss = fields.one_of<StoreMiss>("miss", {{"allocate", StoreMiss::allocate},
                                                    {"no_allocate", StoreMiss::no_allocate}})};
}

/// Distances from a middle: they may lie below it.
std::vector<double> read_tpc_cycles(Fields& fields, const ChipModel& chip) {
  std::vector<double> cycles = fields.list<double>("tpc_cycles");
  const auto is_possible = [](double value) { return std::abs(value) <= limits::cycles; };
  if (!std::ranges::all_of(cycles, is_possible)) {
    fields.fail("tpc_cycles", fmt::format("must be numbers between -{0} and {0}", limits::cycles));
  }
  if (cycles.size() != static_cast<std::size_t>(chip.tpcs_per_gpc)) {
    fields.fail("tpc_cycles", "must have a number for each TPC of a whole GPC");
  }
  return cycles;
}

CacheModel read_tlb(Fields& fields, MemoryBudget& budget) {
  CacheModel tlb;
  budget.begin_cache();
  tlb.name = fields.text("name");
  tlb.scope = read_scope(fields, "scope");
  tlb.line_bytes = fields.bytes("entry_bytes", limits::entry_bytes);
  const std::uint32_t parts = fields.count_or("sub_entries", {1, Tag::most_sectors}, 1u);
  tlb.sector_bytes = tlb.line_bytes / parts;
  tlb.fetch_bytes = tlb.sector_bytes;
  if (tlb.sector_bytes * parts != tlb.line_bytes) {
    fields.fail("sub_entries", "must divide entry_bytes");
  }
  check_sizes(fields, tlb);
  tlb.geometries.push_back(read_geometry(fields, tlb.scope, budget));
  return tlb;
}

}  // namespace

Scope read_scope(Fields& fields, const std::string& key) {
  return fields.one_of<Scope>(key, {{"sm", Scope::sm},
                                    {"tpc", Scope::tpc},
                                    {"gpc", Scope::gpc},
                                    {"partition", Scope::partition},
                                    {"device", Scope::device}});
}

CacheModel read_cache(Fields& fields, const Model& model, MemoryBudget& budget) {
  CacheModel cache;
  budget.begin_cache();
  cache.name = fields.text("name");
  if (cache.name == "dram" || cache.name == "far" || cache.name == "dram_far") {
    fields.fail("name", "is taken: latency_cycles uses it for what is no cache");
  }
  cache.scope = read_scope(fields, "scope");
  cache.addressing = fields.one_of<Addressing>(
      "addressing",
      {{"virtual", Addressing::virtual_address}, {"physical", Addressing::physical_address}});
  cache.line_bytes = fields.bytes("line_bytes", limits::line_bytes);
  cache.sector_bytes = fields.bytes_or("sector_bytes", limits::line_bytes, cache.line_bytes);
  cache.fetch_bytes = fields.bytes_or("fetch_bytes", limits::line_bytes, cache.sector_bytes);
  check_sizes(fields, cache);
  read_geometries(fields, cache, model.device, budget);
  cache.write_policy = fields.object("write_policy", read_write_policy);
  if (fields.has("prefetch")) {
    cache.prefetch = fields.object("prefetch", [](Fields& prefetch) {
      return Prefetch{
          .bytes = prefetch.bytes("bytes", limits::memory_bytes),
          .stride_limit_bytes = prefetch.bytes("stride_limit_bytes", limits::memory_bytes)};
    });
  }
  cache.jitter_cycles = fields.number_or("jitter_cycles", {0, limits::cycles}, 0);
  cache.sm_spread_cycles = fields.number_or("sm_spread_cycles", {0, limits::cycles}, 0);
  if (fields.has("tpc_cycles")) cache.tpc_cycles = read_tpc_cycles(fields, model.chip);
  return cache;
}

PageModel read_pages(Fields& fields, const DeviceInfo& device, MemoryBudget& budget) {
  PageModel pages;
  pages.page_bytes = fields.bytes("page_bytes", limits::entry_bytes);
  if (!std::has_single_bit(pages.page_bytes) || pages.page_bytes < limits::least_page_bytes) {
    fields.fail("page_bytes", "must be a power of two of at least 512");
  }
  pages.window_bytes = fields.bytes_or("window_bytes", limits::memory_bytes, 0);
  pages.mapping = fields.one_of<PageMapping>(
      "mapping", {{"contiguous", PageMapping::contiguous}, {"random", PageMapping::random}});
  if (pages.mapping == PageMapping::random) {
    pages.block_bytes = fields.bytes_or("block_bytes", limits::entry_bytes, pages.page_bytes);
    if (!std::has_single_bit(pages.block_bytes) || pages.block_bytes < pages.page_bytes) {
      fields.fail("block_bytes", "must be a power of two and hold a page");
    }
  }
  budget.spend_page_tables(fields, pages, device.memory_bytes);
  const auto read = [&budget](Fields& tlb) { return read_tlb(tlb, budget); };
  pages.tlbs = fields.objects("tlbs", read);
  if (fields.has("path_tlbs")) pages.path_tlbs = fields.objects("path_tlbs", read);
  return pages;
}

Partitions read_partitions(Fields& fields) {
  return {.count = 2,
          .home_mask = fields.mask("home_mask"),
          .replicate = fields.flag_or("replicate", false),
          .crossing_bytes_per_cycle =
              fields.number_or("crossing_bytes_per_cycle", {0, limits::bytes_per_cycle}, 0.0),
          .copy_cycles = fields.number_or("copy_cycles", {0, limits::cycles}, 0.0)};
}

namespace {

ReductionModel read_reductions(Fields& fields) {
  return {.served_sms = fields.number("served_sms", {0, limits::sms}),
          .wait_cycles = fields.number("wait_cycles", {0, limits::cycles}),
          .port_wait_cycles = fields.number("port_wait_cycles", {0, limits::cycles})};
}

SecondOrder read_second_order(Fields& fields, std::size_t slices) {
  SecondOrder order{.mask = fields.mask("mask"), .slices = fields.list<std::uint32_t>("slices")};
  std::vector<std::uint32_t> all(slices);
  std::iota(all.begin(), all.end(), 0u);
  if (!std::ranges::is_permutation(order.slices, all)) {
    fields.fail("slices", "must name every slice once");
  }
  return order;
}

SliceSides read_sides(Fields& fields, std::size_t slices) {
  SliceSides sides{.of_slice = fields.list<std::uint32_t>("of_slice"),
                   .far_cycles = fields.number("far_cycles", {0, limits::cycles})};
  const bool known =
      std::ranges::all_of(sides.of_slice, [](std::uint32_t side) { return side < 2; });
  if (!known || sides.of_slice.size() != slices) {
    fields.fail("of_slice", "must hold side 0 or 1 for each slice");
  }
  return sides;
}

}  // namespace

void check_sliced_sets(const Fields& fields, const CacheModel& cache,
                       const std::optional<Slices>& slices) {
  for (const Geometry& geometry : cache.geometries) {
    if (geometry.index.kind != DeclaredIndex::Kind::slices) continue;
    const std::size_t sets = geometry.ways_per_set.size();
    const auto count = slices ? static_cast<std::size_t>(slices->count) : 0;
    if (count == 0 || cache.name != "l2" || sets % count != 0) {
      fields.fail("caches",
                  "must have an index of kind slices in the l2 alone, where there are "
                  "`slices`, with as many sets in each");
    }
    check_index(fields, geometry.index.within.front(), sets / count);
  }
}

Slices read_slices(Fields& fields) {
  Slices slices;
  slices.count = fields.count<int>("count", {1, limits::slices});
  slices.index = fields.object("index", read_index);
  slices.spread_cycles = fields.number("spread_cycles", {0, limits::cycles});
  const auto count = static_cast<std::size_t>(slices.count);
  if (fields.has("second_order")) {
    slices.second_order = fields.object(
        "second_order", [count](Fields& order) { return read_second_order(order, count); });
  }
  if (fields.has("sides")) {
    slices.sides =
        fields.object("sides", [count](Fields& sides) { return read_sides(sides, count); });
  }
  if (fields.has("reductions")) slices.reductions = fields.object("reductions", read_reductions);
  check_index(fields, slices.index, count);
  return slices;
}

}  // namespace sonde::sim
