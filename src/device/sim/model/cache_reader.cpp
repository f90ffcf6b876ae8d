// Reads the caches, TLBs, pages and index functions of a model file, and refuses bad values, so
// that the memory system need not check them.
#include "base/units.hpp"
#include "device/sim/model/limits.hpp"
#include "device/sim/model/model_files.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <numeric>

namespace sonde::sim {
namespace {

// Upper bound for a slot: tag and last use (8 bytes each), two nodes of a tree (2), and the number
// of its fill and an entry in the queue of fills (32).
constexpr double bytes_per_slot = 64;
// Upper bound for a set: its head words, guard, hand and number of ways take less.
constexpr double bytes_per_set = 104;
// The model itself holds the number of ways of each set of each geometry.
constexpr double declared_bytes_per_set = 4;

int arrays_of(const Model& model, Scope scope) {
  switch (scope) {
    case Scope::sm: return model.device.sm_count;
    case Scope::tpc: return model.chip.enabled_tpcs;
    case Scope::gpc: return model.chip.gpcs;
    case Scope::partition: return model.partitions.count;
    case Scope::device: break;
  }
  return 1;
}

/// Adds to the memory of the host that a simulated GPU takes, counted while its model is read:
/// upper bounds of what CacheArray, ReplacementState and PageTables allocate.
/// @throws ConfigError at `key` if the sum exceeds limits::host_bytes
void spend(const Fields& fields, const std::string& key, double size_bytes, double& spent_bytes) {
  spent_bytes += size_bytes;
  if (spent_bytes <= limits::host_bytes) return;
  fields.fail(key, "raises the host memory that the simulated GPU takes to " +
                       format_bytes(spent_bytes) + " (at most " + format_bytes(limits::host_bytes) +
                       " are allowed) declare fewer or smaller sets, fewer SMs or larger pages");
}

/// Counts one array for each unit of the cache's scope, with the largest of its geometries.
void spend_arrays(const Fields& fields, const Model& model, const CacheModel& cache,
                  double& spent_bytes) {
  double declared_bytes = 0;
  double array_bytes = 0;
  for (const Geometry& geometry : cache.geometries) {
    const auto sets = static_cast<double>(geometry.ways_per_set.size());
    declared_bytes += declared_bytes_per_set * sets;
    array_bytes =
        std::max(array_bytes, sets * (bytes_per_set + bytes_per_slot * geometry.most_ways()));
  }
  spend(fields, fields.has("sets") ? "sets" : "ways_per_set",
        declared_bytes + array_bytes * arrays_of(model, cache.scope), spent_bytes);
}

/// Counts the page tables of a buffer as large as the memory.
void spend_page_tables(const Fields& fields, const PageModel& pages, std::uint64_t memory_bytes,
                       double& spent_bytes) {
  constexpr double bits_per_byte = 8;
  const auto memory = static_cast<double>(memory_bytes);
  double size_bytes = memory / static_cast<double>(pages.page_bytes) / bits_per_byte;
  if (pages.mapping == PageMapping::random) {
    size_bytes += memory / static_cast<double>(pages.block_bytes) * sizeof(std::uint64_t);
  }
  spend(fields, "page_bytes", size_bytes, spent_bytes);
}

/// @throws ConfigError if the index gives a set that does not exist
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

/// For TLBs, and for the slices themselves.
void refuse_slices(const Fields& fields, const std::string& key, const DeclaredIndex& index) {
  if (index.kind != DeclaredIndex::Kind::slices) return;
  fields.fail(key, "must not be of kind slices (only the sets of the l2 lie in slices)");
}

DeclaredIndex read_index(Fields& fields) {
  using Kind = DeclaredIndex::Kind;
  DeclaredIndex index;
  index.kind = fields.one_of<Kind>(
      "kind", {"bit_field", "xor_masks", "modulo", "table", "xor_modulo", "slices"});
  switch (index.kind) {
    case Kind::bit_field:
      index.low_bit = fields.count<int>("low_bit", {0, 47});
      index.bits = fields.count<int>("bits", {0, 24});
      break;
    case Kind::xor_masks:
    case Kind::xor_modulo:
      index.masks = fields.list("masks", &Value::mask);
      if (index.masks.empty() || index.masks.size() > 24) {
        fields.fail("masks", "must be 1 to 24 masks");
      }
      break;
    case Kind::modulo:
      index.granularity_bytes = fields.bytes("granularity_bytes", limits::entry_bytes);
      break;
    case Kind::table:
      index.granularity_bytes = fields.bytes("granularity_bytes", limits::entry_bytes);
      index.table = fields.counts("table", {0, limits::sets});
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
      "replacement", {"lru", "fifo", "tree_plru", "nru", "clock", "srrip", "brrip", "guarded_lru",
                      "set_duelling", "random", "weighted_ways"});
  if (replacement.policy != DeclaredPolicy::weighted_ways) return replacement;
  replacement.way_weights = fields.numbers("way_weights", {0, limits::weight});
  if (std::ranges::count(replacement.way_weights, 0) == std::ssize(replacement.way_weights)) {
    fields.fail("way_weights", "must hold a positive weight");
  }
  return replacement;
}

/// Appends equal sets, from the keys `sets` and `ways`.
void read_sets(Fields& fields, Geometry& geometry) {
  const std::uint32_t sets = fields.count("sets", {1, limits::sets});
  const std::uint32_t ways = fields.count("ways", {1, limits::ways});
  std::vector<std::uint32_t>& all = geometry.ways_per_set;
  if (static_cast<double>(all.size() + sets) > limits::sets) fields.fail("sets", "are too many");
  all.insert(all.end(), sets, ways);
}

/// Reads equal sets, or runs of equal sets below `ways_per_set`.
/// @param cache has the keys that a carve-out leaves out
Geometry read_geometry(Fields& fields, Fields& cache) {
  Geometry geometry;
  if (fields.has("ways_per_set")) {
    fields.objects("ways_per_set", [&](Fields& run) { return read_sets(run, geometry), 0; });
    if (geometry.ways_per_set.empty()) fields.fail("ways_per_set", "must not be empty");
  } else {
    read_sets(fields.has("sets") ? fields : cache, geometry);
  }
  geometry.index = (fields.has("index") ? fields : cache).object("index", read_index);
  check_index(fields, geometry.index, geometry.ways_per_set.size());
  geometry.replacement = read_replacement(fields.has("replacement") ? fields : cache);
  geometry.data_lines = fields.count("data_lines", {1, limits::sets * limits::ways}, {0u});
  if (geometry.data_lines > geometry.lines()) {
    fields.fail("data_lines", "must not be more than there are tags (sets x ways)");
  }
  const auto weights = geometry.replacement.way_weights.size();
  for (std::uint32_t ways : geometry.ways_per_set) {
    if (weights != 0 && ways != weights) fields.fail("way_weights", "must hold one for each way");
  }
  return geometry;
}

std::vector<Geometry> read_geometries(Fields& fields, const DeviceInfo& device) {
  if (!fields.has("by_carveout")) return {read_geometry(fields, fields)};
  std::vector<Geometry> geometries = fields.objects("by_carveout", [&](Fields& item) {
    Geometry geometry = read_geometry(item, fields);
    geometry.shared_bytes =
        item.count<std::uint64_t>("shared_kib", {0, limits::on_chip_bytes / 1024}) * 1024;
    return geometry;
  });
  if (!std::ranges::equal(geometries, device.shared_carveouts_bytes, {}, &Geometry::shared_bytes)) {
    fields.fail("by_carveout", "must list each of device.shared_carveouts_bytes, in order");
  }
  return geometries;
}

void check_sizes(const Fields& fields, const CacheModel& cache) {
  const auto power = [&](const char* key, std::uint64_t value) {
    if (!std::has_single_bit(value)) fields.fail(key, "must be a power of two");
  };
  power("line_bytes", cache.line_bytes);
  power("sector_bytes", cache.sector_bytes);
  power("fetch_bytes", cache.fetch_bytes);
  if (cache.line_bytes % cache.sector_bytes != 0 ||
      cache.line_bytes / cache.sector_bytes > limits::line_sectors) {
    fields.fail("sector_bytes",
                fmt::format("must divide the line into 1 to {} sectors", limits::line_sectors));
  }
  if (cache.fetch_bytes < cache.sector_bytes || cache.line_bytes % cache.fetch_bytes != 0) {
    fields.fail("fetch_bytes", "must be at least sector_bytes, and divide line_bytes");
  }
}

WritePolicy read_write_policy(Fields& fields) {
  return {.hit = fields.one_of<StoreHit>("hit", {"update", "invalidate", "ignore"}),
          .miss = fields.one_of<StoreMiss>("miss", {"allocate", "allocate_stored", "no_allocate"})};
}

/// Distances from the declared latency, which may be negative.
std::vector<double> read_tpc_cycles(Fields& fields, const ChipModel& chip) {
  std::vector<double> cycles = fields.numbers("tpc_cycles", {-limits::cycles, limits::cycles});
  if (cycles.size() != static_cast<std::size_t>(chip.tpcs_per_gpc)) {
    fields.fail("tpc_cycles", "must have a number for each TPC of a whole GPC");
  }
  return cycles;
}

CacheModel read_tlb(Fields& fields, const Model& model, double& spent_bytes) {
  CacheModel tlb;
  tlb.name = fields.text("name");
  tlb.scope = fields.one_of<Scope>("scope", scope_names);
  tlb.line_bytes = fields.bytes("entry_bytes", limits::entry_bytes);
  if (!std::has_single_bit(tlb.line_bytes)) fields.fail("entry_bytes", "must be a power of two");
  const std::uint32_t parts = fields.count("sub_entries", {1, limits::line_sectors}, {1u});
  tlb.sector_bytes = tlb.line_bytes / parts;
  tlb.fetch_bytes = tlb.sector_bytes;
  if (tlb.sector_bytes * parts != tlb.line_bytes) {
    fields.fail("sub_entries", "must divide entry_bytes");
  }
  check_sizes(fields, tlb);
  tlb.geometries = {read_geometry(fields, fields)};
  spend_arrays(fields, model, tlb, spent_bytes);
  refuse_slices(fields, "index", tlb.geometries.front().index);
  return tlb;
}

CacheModel read_cache(Fields& fields, const Model& model, double& spent_bytes) {
  CacheModel cache;
  cache.name = fields.text("name");
  if (cache.name == "dram" || cache.name == "far" || cache.name == "dram_far") {
    fields.fail("name", "is taken: latency_cycles uses it for what is no cache");
  }
  cache.scope = fields.one_of<Scope>("scope", scope_names);
  cache.addressing = fields.one_of<Addressing>("addressing", {"virtual", "physical"});
  cache.line_bytes = fields.bytes("line_bytes", limits::line_bytes);
  cache.sector_bytes = fields.bytes("sector_bytes", limits::line_bytes, cache.line_bytes);
  cache.fetch_bytes = fields.bytes("fetch_bytes", limits::line_bytes, cache.sector_bytes);
  check_sizes(fields, cache);
  cache.geometries = read_geometries(fields, model.device);
  spend_arrays(fields, model, cache, spent_bytes);
  if (fields.has("write_policy")) {
    cache.write_policy = fields.object("write_policy", read_write_policy);
  }
  cache.prefetch = fields.object_or_none<Prefetch>("prefetch");
  cache.jitter_cycles = fields.number("jitter_cycles", any_cycles, 0);
  cache.sm_spread_cycles = fields.number("sm_spread_cycles", any_cycles, 0);
  if (fields.has("tpc_cycles")) cache.tpc_cycles = read_tpc_cycles(fields, model.chip);
  return cache;
}

PageModel read_pages(Fields& fields, const Model& model, double& spent_bytes) {
  PageModel pages;
  pages.page_bytes = fields.bytes("page_bytes", limits::entry_bytes);
  if (!std::has_single_bit(pages.page_bytes) || pages.page_bytes < limits::least_page_bytes) {
    fields.fail("page_bytes", "must be a power of two of at least 512");
  }
  pages.window_bytes = fields.bytes("window_bytes", limits::memory_bytes, 0);
  pages.mapping = fields.one_of<PageMapping>("mapping", {"contiguous", "random"});
  if (pages.mapping == PageMapping::random) {
    pages.block_bytes = fields.bytes("block_bytes", limits::entry_bytes, pages.page_bytes);
    if (!std::has_single_bit(pages.block_bytes) || pages.block_bytes < pages.page_bytes) {
      fields.fail("block_bytes", "must be a power of two and hold a page");
    }
  }
  const auto read = [&](Fields& tlb) { return read_tlb(tlb, model, spent_bytes); };
  pages.tlbs = fields.objects("tlbs", read);
  if (fields.has("path_tlbs")) pages.path_tlbs = fields.objects("path_tlbs", read);
  spend_page_tables(fields, pages, model.device.memory_bytes, spent_bytes);
  return pages;
}

/// If a cache has its sets in slices, the model must declare these slices.
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

}  // namespace

Slices::Slices(Fields& fields) : Section(fields), index(fields.object("index", read_index)) {
  refuse_slices(fields, "index", index);
  check_index(fields, index, static_cast<std::size_t>(count));
  std::vector<std::uint32_t> all(static_cast<std::size_t>(count));
  std::iota(all.begin(), all.end(), 0u);
  if (second_order.mask != 0 && !std::ranges::is_permutation(second_order.slices, all)) {
    fields.fail("second_order.slices", "must name every slice once");
  }
  if (fields.has("sides") && sides.of_slice.size() != all.size()) {
    fields.fail("sides.of_slice", "must hold side 0 or 1 for each slice");
  }
}

void read_memory(Fields& root, Model& model) {
  double spent_bytes = 0;
  model.pages =
      root.object("pages", [&](Fields& pages) { return read_pages(pages, model, spent_bytes); });
  model.caches =
      root.objects("caches", [&](Fields& cache) { return read_cache(cache, model, spent_bytes); });
  for (const CacheModel& cache : model.caches) check_sliced_sets(root, cache, model.slices);
}

}  // namespace sonde::sim
