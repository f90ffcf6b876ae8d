// Parts of registry rows, and the rows that metrics.cpp multiplies: caches, TLB levels, load paths
// and patterns, with the metrics of each kind.
#pragma once

#include "analysis/metric_kind.hpp"

#include <string_view>

namespace sonde::registry {

using enum MetricKind;
using enum Better;

/// Unit and kind of a value, and how devices are compared by it.
struct Quantity {
  std::string_view unit;
  MetricKind kind;
  Better better;
  double warn = 0.03;  // see Metric
  double fail = 0.05;
};

/// One metric; or with "{}" in name and meaning, one for each factor of its section.
struct Row {
  std::string_view name;
  Quantity quantity;
  std::string_view meaning;
  std::string_view source = "";        // empty: that of the section
  std::string_view not_compared = "";  // see Metric
};

/// Place of a cache on its load path. Each place has its own metrics.
enum class CacheKind { none, first, of_loads, inner, outer };

/// The text for "{}" in the rows of a section.
struct Factor {
  std::string_view name;
  std::string_view meaning;
  std::string_view job = "";  // for sections that name none
  CacheKind kind = CacheKind::none;
  bool is_code = false;
};

// Quantities of several rows.
inline constexpr Quantity latency{"cycle", continuous, lower};
inline constexpr Quantity count{"1", structural, neither};
inline constexpr Quantity size{"byte", structural, neither};
inline constexpr Quantity edge{"byte", capacity, higher};
inline constexpr Quantity entries{"1", capacity, higher};
inline constexpr Quantity units{"1", structural, higher};
inline constexpr Quantity number{"1", continuous, neither};
inline constexpr Quantity text{"", structural, neither};
inline constexpr Quantity curve{"cycle", fingerprint, neither};
inline constexpr Quantity cycles{"cycle", continuous, neither};
inline constexpr Quantity alarm{"1", inventory, lower};
inline constexpr Quantity list{"1", fingerprint, neither};
inline constexpr Quantity throughput{"byte/s", continuous, higher};
inline constexpr Quantity gain{"1", continuous, higher};
inline constexpr Quantity footprints{"byte", fingerprint, neither};
inline constexpr Quantity sm_map{"cycle", fingerprint, lower};
inline constexpr Quantity label{"", inventory, neither};
inline constexpr Quantity of_one_die{"1", inventory, neither};  // SMs per GPC differ by die
inline constexpr Quantity sm_rates{"byte/cycle", fingerprint, neither};
inline constexpr Quantity sm_rate_map{"byte/cycle", fingerprint, higher};
inline constexpr Quantity sm_throughput{"byte/cycle", continuous, higher};
inline constexpr Quantity clock_rate{"Hz", continuous, higher};
inline constexpr Quantity delay{"ns", continuous, lower};
inline constexpr Quantity time_curve{"ns", fingerprint, neither};
inline constexpr Quantity highest_clock{"Hz", structural, neither};
inline constexpr Quantity amount{"byte", continuous, neither};
inline constexpr Quantity rate_curve{"byte/s", fingerprint, neither};
inline constexpr Quantity rates{"1/cycle", fingerprint, neither};

// Sources of several rows: Mei and Chu 2016 and Wong 2010 by section or figure.
inline constexpr std::string_view mei_4_2 = "Mei and Chu 2016, section 4.2";
inline constexpr std::string_view mei_4_3 = "Mei and Chu 2016, section 4.3";
inline constexpr std::string_view mei_4_4 = "Mei and Chu 2016, section 4.4";
inline constexpr std::string_view mei_5_2 = "Mei and Chu 2016, section 5.2";
inline constexpr std::string_view mei_6_1 = "Mei and Chu 2016, section 6.1";
inline constexpr std::string_view mei_fig_12 = "Mei and Chu 2016, figure 12";
inline constexpr std::string_view wong_4 = "Wong 2010, section IV";
inline constexpr std::string_view wong_fig_20 = "Wong 2010, figure 20; docs/methods/sharing.md";
inline constexpr std::string_view wong_fig_21 = "Wong 2010, figure 21; docs/methods/sharing.md";
inline constexpr std::string_view plain_loops = "Saavedra 1992, Wong 2010";
inline constexpr std::string_view littles_law = "Little's law; Mei and Chu 2016, section 5.1";
inline constexpr std::string_view cache_page = "docs/methods/cache.md";
inline constexpr std::string_view sets_page = "docs/methods/conflict-sets.md";
inline constexpr std::string_view index_page = "docs/methods/index-function.md";
inline constexpr std::string_view latency_page = "docs/methods/latency.md";
inline constexpr std::string_view policy_page = "docs/methods/replacement.md";
inline constexpr std::string_view global_page = "docs/methods/global-throughput.md";

// Reason why a metric is not compared.
inline constexpr std::string_view whole_cycles =
    "it is a difference of two medians in whole cycles: one cycle can be a tenth of it";

/// Load paths, and the level that serves them. Only plain and read-only loads use the first cache.
inline constexpr Factor paths[] = {
    {"ca.l1", "plain loads that hit the first cache"},
    {"ca.l2", "plain loads that hit the L2"},
    {"ca.dram", "plain loads served by memory, without TLB misses"},
    {"cg.l2", "loads past the L1 that hit the L2"},
    {"cg.dram", "loads past the L1 served by memory, without TLB misses"},
    {"nc.l1", "read-only loads that hit the first cache"},
    {"nc.l2", "read-only loads that hit the L2"},
    {"nc.dram", "read-only loads served by memory, without TLB misses"},
    {"cv.l2", "volatile loads that hit the L2"},
    {"cv.dram", "volatile loads served by memory, without TLB misses"},
};
inline constexpr Row path_rows[] = {
    {"latency.{}_cycles", latency, "latency of {}"},
    {"latency.{}_amortised_cycles", latency, "the same by a plain loop", plain_loops},
};

inline constexpr Factor pattern_paths[] = {{"", ""}, {"cg.", ", L1 bypassed"}};
inline constexpr std::string_view translations_vary =
    "a TLB miss costs more or less depending on which page tables lie in caches: 3 to 4 % from run "
    "to run on one H200";
inline constexpr Row pattern_rows[] = {
    {"latency.{}p1_cycles", latency, "data cache hit, L1 TLB hit{}"},
    {"latency.{}p2_cycles", latency, "data cache hit, L1 TLB miss, L2 TLB hit{}"},
    {"latency.{}p3_cycles", cycles, "data cache hit, TLB misses{}", "", translations_vary},
    {"latency.{}p4_cycles", latency, "data cache miss, L1 TLB hit{}"},
    {"latency.{}p5_cycles", cycles, "data cache miss, TLB misses, page never touched{}", "",
     translations_vary},
    {"latency.{}p6_cycles", cycles, "data cache the same, page tables not active{}"},
};

/// Caches of loads are measured from several SMs or lie in one; caches of constants and code lie
/// inside an SM (inner) or beyond it (outer).
inline constexpr Factor caches[] = {
    {"l1", "first cache of plain loads", "cache.l1", CacheKind::first},
    {"readonly", "first cache of read-only loads", "cache.readonly", CacheKind::first},
    {"texture_l1", "first cache of texture fetches", "cache.texture_l1", CacheKind::first},
    {"texture_l2", "second cache of texture fetches alone", "cache.texture_l2",
     CacheKind::of_loads},
    {"constant_l1", "first cache of the constant bank", "cache.constant_l1", CacheKind::inner},
    {"constant_l2", "second cache of the constant bank", "cache.constant_l2", CacheKind::outer},
    {"constant_l3", "third cache of the constant bank", "cache.constant_l3", CacheKind::outer},
    {"l2", "L2", "cache.l2", CacheKind::of_loads},
    {"instruction_l0", "first cache of code", "cache.instruction", CacheKind::inner, true},
    {"instruction_l1", "second cache of code", "cache.instruction", CacheKind::outer, true},
    {"instruction_l2", "third cache of code", "cache.instruction", CacheKind::outer, true},
    {"instruction_l3", "fourth cache of code", "cache.instruction", CacheKind::outer, true},
};
constexpr bool has_sets(const Factor& cache) { return !cache.is_code; }
constexpr bool is_shared(const Factor& cache) { return cache.name != "l2"; }
constexpr bool is_inner(const Factor& cache) { return cache.kind == CacheKind::inner; }
constexpr bool is_outer(const Factor& cache) { return cache.kind == CacheKind::outer; }
constexpr bool is_of_loads(const Factor& cache) { return !is_inner(cache) && !is_outer(cache); }
/// Caches whose sets are measured on all SMs.
constexpr bool is_first(const Factor& cache) {
  return cache.kind == CacheKind::first || cache.name == "constant_l1";
}
inline constexpr Row cache_rows[] = {
    {"cache.{}.size_bytes", edge, "size ({})", mei_4_2},
    {"cache.{}.first_miss_bytes", edge,
     "largest footprint without a miss: less than the size if sets are unequal ({})",
     "Meltzer 2013"},
    {"cache.{}.line_bytes", size, "bytes under one tag ({})"},
    {"cache.{}.sector_bytes", size, "smallest part of a line that arrives on its own ({})"},
    {"cache.{}.fetch_bytes", size, "bytes that one miss brings ({})", mei_4_2},
};
inline constexpr Row set_rows[] = {
    {"cache.{}.sets", count, "number of sets ({})", sets_page},
    {"cache.{}.ways", count, "lines of one set; the mean where sets differ ({})", sets_page},
    {"cache.{}.ways_per_set", count, "ways of each set, largest first ({})", sets_page},
    {"cache.{}.tag_reach_bytes", size,
     "lines of all sets: more than the size if there are more tags than data lines ({})",
     sets_page},
    {"cache.{}.index_function", text, "from the address to the set ({})", index_page},
    {"cache.{}.replacement", text, "how the victim in a full set is chosen ({})", policy_page},
    {"cache.{}.way_probability", number,
     "chance of each way to be the victim, in the order of first fill ({})", mei_4_3},
    {"cache.{}.prefetch_bytes", size, "how far ahead of a stream of misses lines are fetched ({})",
     mei_4_3},
    {"cache.{}.write_policy", text,
     "what a store does to a resident line and to a missing line ({})"},
};

// One healthy H200 needed 98 cycles to its second constant cache, another one 104.
inline constexpr std::string_view ways_differ =
    "it is measured on one SM, whose distance to the cache differs between GPUs; placement.* "
    "compares all SMs";
inline constexpr Row latency_rows_of_loads[] = {
    {"cache.{}.hit_latency_cycles", latency, "latency of a hit ({})"},
    {"cache.{}.miss_latency_cycles", latency,
     "latency of a load that finds its line in the next level ({})"},
};
inline constexpr Row latency_rows_of_inner[] = {
    {"cache.{}.hit_latency_cycles", latency, "latency of a hit ({})"},
    {"cache.{}.miss_latency_cycles", cycles,
     "latency of a load that finds its line in the next level ({})", "", ways_differ},
};
inline constexpr Row latency_rows_of_outer[] = {
    {"cache.{}.hit_latency_cycles", cycles, "latency of a hit ({})", "", ways_differ},
    {"cache.{}.miss_latency_cycles", cycles,
     "latency of a load that finds its line in the next level ({})", "", ways_differ},
};

inline constexpr Row sharing_rows[] = {
    {"sharing.{}.scope", text,
     "which SMs share it: sm, tpc, gpc, part of a gpc, partition or device ({})", wong_fig_20},
    {"sharing.{}.sms", of_one_die, "SMs that share it with SM 0, SM 0 included ({})", wong_fig_20},
};
inline constexpr Row array_rows[] = {
    {"sharing.l1_readonly", text, "whether plain and read-only loads have one first cache"},
    {"sharing.l1_texture_l1", text, "whether plain loads and texture fetches have one first cache"},
    {"sharing.readonly_texture_l1", text,
     "whether read-only loads and texture fetches have one first cache"},
    {"sharing.l1_constant_l1", text, "whether plain loads and constants have one first cache"},
    {"sharing.readonly_constant_l1", text,
     "whether read-only loads and constants have one first cache"},
    {"sharing.texture_l1_constant_l1", text,
     "whether texture fetches and constants have one first cache"},
    {"sharing.l1_shared_memory", text, "whether the L1 loses what shared memory gets", cache_page},
    {"sharing.constant_l1_code", text,
     "the cache of code that is one array with the first cache of constants; no: none is",
     wong_fig_21},
    {"sharing.constant_l2_code", text, "the same for the second cache of constants", wong_fig_21},
    {"sharing.constant_l3_code", text, "the same for the third cache of constants", wong_fig_21},
};

inline constexpr Row every_sm_rows[] = {
    {"cache.{}.alike_sms", count, "number of SMs that have this structure ({})"},
    {"cache.{}.odd_sms", list, "SMs that have another structure ({})"},
};

inline constexpr Factor tlb_levels[] = {
    {"tlb.l1", "first TLB of loads", "tlb"},
    {"tlb.l2", "second TLB of loads", "tlb"},
    {"tlb.l3", "third TLB of loads", "tlb"},
    {"tlb.texture_l1", "first TLB of texture fetches, if they have their own", "tlb"},
    {"tlb.texture_l2", "second TLB of texture fetches, if they have their own", "tlb"},
};
inline constexpr Row tlb_level_rows[] = {
    {"{}.reach_bytes", edge, "memory that all of its entries cover ({})", mei_4_4},
    {"{}.entries", entries, "entries of all sets; reach / entry where sets are not resolved ({})",
     mei_4_4},
    {"{}.entry_bytes", size, "memory under one entry ({})"},
    {"{}.sub_entries", count, "pages of an entry that are filled one by one ({})"},
    {"{}.sets", count, "number of sets ({})"},
    {"{}.ways", count, "entries of one set; the mean where sets differ ({})"},
    {"{}.ways_per_set", count, "ways of each set, largest first ({})"},
    {"{}.tag_reach_bytes", size, "entries of all sets x memory under one entry ({})"},
    {"{}.index_function", text, "from the offset to the set ({})", index_page},
    {"{}.replacement", text, "how the victim in a full set is chosen ({})", policy_page},
    {"{}.way_probability", number,
     "chance of each way to be the victim, in the order of first fill ({})", policy_page},
    {"{}.scope", text, "which SMs share it: sm, tpc, gpc, part of a gpc, partition or device ({})"},
    {"{}.miss_penalty_cycles", cycles,
     "cost of a miss of this level beyond a hit of the first level ({})", "", whole_cycles},
};

}  // namespace sonde::registry
