// The registry of metrics: single rows by job, and the products of the *_rows.hpp files.
#include "analysis/metrics.hpp"

#include "analysis/arithmetic_rows.hpp"
#include "analysis/metric_rows.hpp"
#include "analysis/placement_rows.hpp"
#include "analysis/stream_rows.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <deque>
#include <string>
#include <unordered_map>
#include <vector>

namespace sonde::registry {
namespace {

constexpr Row device_rows[] = {
    {"device.name", label, "product name"},
    {"device.compute_capability", text, "compute capability"},
    {"device.vbios", label, "VBIOS version"},
    {"device.driver", label, "driver version"},
    {"device.sm_count", units, "multiprocessors"},
    {"device.memory_bytes", Quantity{"byte", structural, higher}, "global memory"},
    {"device.reported_l2_bytes", size, "L2 size as the driver prints it"},
    {"device.shared_bytes_per_sm", size, "shared memory of an SM, at most"},
    {"device.shared_bytes_per_block", size, "shared memory of a block (CTA), at most"},
    {"device.max_sm_clock_hz", highest_clock, "highest SM clock"},
    {"device.max_memory_clock_hz", highest_clock, "highest memory clock"},
    {"device.memory_bus_bits", units, "width of the memory bus"},
    {"device.ecc_enabled", count, "1: ECC is on"},
    {"device.temperature_c", Quantity{"degC", inventory, lower}, "GPU temperature at the start"},
    {"device.power_w", Quantity{"W", inventory, neither}, "board power at the start"},
    {"device.throttle_reasons", alarm, "bit mask of reasons for lowered clocks",
     "NVML clocks event reasons"},
    {"device.ecc_corrected", alarm, "corrected memory errors"},
    {"device.ecc_uncorrected", alarm, "uncorrected memory errors"},
    {"device.remapped_rows", alarm, "memory rows remapped"},
    {"device.remap_pending", alarm, "1: a row remap waits for a reset"},
    {"device.remap_failure", alarm, "1: a row remap failed"},
    {"device.pcie_replays", alarm,
     "PCIe packets sent again since the driver was loaded, before the first job", nvml},
    {"device.nvlink_errors", alarm, "CRC errors, replays and recoveries together, by NVLink", nvml},
    {"device.xids", alarm, "codes of the Xid errors so far in the kernel's log, in its order",
     xid_page},
};

constexpr Row l1_rows[] = {
    {"cache.l1.carveout_bytes", size, "carve-outs that size_by_carveout_bytes was measured with",
     cache_page},
    {"cache.l1.size_by_carveout_bytes", amount, "size with each of carveout_bytes", cache_page},
    {"cache.l1.structure_carveout_bytes", size,
     "carve-outs that the structures below were measured with"},
    {"cache.l1.sets_by_carveout", count, "sets with each of them; 0: not resolved"},
    {"cache.l1.ways_by_carveout", count, "ways with each of them; 0: not resolved"},
    {"cache.l1.index_function_by_carveout", text, "index function with each of them", index_page},
    {"cache.l1.replacement_by_carveout", text, "replacement with each of them", policy_page},
    {"cache.l1.way_probability_by_carveout", number,
     "chance of each way to be the victim with each of them, one after the other", mei_4_3},
};

constexpr Row l2_rows[] = {
    {"cache.l2.atomic_near_cycles", latency, "atomic to a line whose home is the near partition"},
    {"cache.l2.atomic_far_cycles", latency, "atomic to a line whose home is the far partition"},
    {"cache.l2.home_near_fraction", number,
     "share of the lines of a page whose home is the near partition, over some SMs"},
    {"cache.l2.home_function", text, "from the address within a large page to the home partition"},
    {"cache.l2.segment_bytes", edge, "what one SM keeps in the near partition",
     "published measurements of A100 and H100: docs/methods/cache.md"},
    {"cache.l2.far_hit_latency_cycles", latency, "latency of a hit in the far partition",
     cache_page},
};

constexpr Row texel_rows[] = {
    {"cache.texture_l1.tile_bytes", size,
     "texels of a two-dimensional texture that one miss brings"},
    {"cache.texture_l1.tile_rows", count, "rows of texels that one miss brings"},
};

constexpr Row tlb_rows[] = {
    {"tlb.page_bytes", size, "smallest part of memory with a translation of its own"},
    {"tlb.page_window_bytes", size, "memory whose page tables are active at the same time",
     mei_5_2},
};

constexpr Row latency_rows[] = {
    {"latency.l1_cycles", latency, "latency of an L1 hit, plain loads"},
    {"latency.l2_cycles", latency, "latency of an L2 hit, loads past the L1"},
    {"latency.dram_cycles", latency, "latency of memory, without TLB misses"},
    {"latency.l2_near_cycles", latency, "latency of a hit in the near partition of the L2"},
    {"latency.l2_far_cycles", latency, "latency of a hit in the far partition of the L2"},
    {"latency.dram_near_cycles", latency, "latency of memory behind the near partition"},
    {"latency.dram_far_cycles", latency, "latency of memory behind the far partition"},
};

constexpr Row staircase_rows[] = {
    {"latency.staircase_bytes", footprints, "footprints of random chases through plain loads",
     plain_loops},
    {"latency.staircase_cycles", curve, "mean latency at each of staircase_bytes", plain_loops},
};

constexpr Row chase_rows[] = {
    {"chase.latency_cycles", latency, "latency of one timed access of the chase that the run sets"},
    {"chase.amortised_cycles", latency, "cycles for each access of a plain loop over its list"},
};

constexpr Row topology_rows[] = {
    {"topology.sm_count", units, "SMs, each of which ran probes", "driver"},
    {"topology.tpc_count", units, "texture processing clusters with an SM"},
    {"topology.gpc_count", count, "graphics processing clusters seen"},
    {"topology.gpc_sizes", list, "SMs of each GPC, largest first"},
    {"topology.tpc_of_sm", list, "TPC of each SM; -1: not known"},
    {"topology.gpc_of_sm", list, "GPC of each SM; -1: not known"},
};

constexpr Factor one[] = {{"", ""}};

constexpr bool any(const Factor&) { return true; }

/// Rows of one job, repeated for each selected factor.
struct Section {
  std::string_view job;     // empty: the job of the factor
  std::string_view source;  // of rows that name none
  std::span<const Row> rows;
  std::span<const Factor> factors = one;
  bool (*picks)(const Factor&) = any;
};

constexpr Section sections[] = {
    {"device", "driver", device_rows},
    {"clock", "docs/methods/clock.md", clock_rows},
    {"cache.l1", sets_page, l1_rows},
    {"cache.l2", "docs/methods/l2-partitions.md", l2_rows},
    {"cache.texture_l1", "docs/methods/cache-levels.md", texel_rows},
    {"tlb", mei_4_4, tlb_rows},
    {"latency", latency_page, latency_rows},
    {"latency", latency_page, path_rows, paths},
    {"latency", mei_5_2, pattern_rows, pattern_paths},
    {"latency", "Saavedra 1992", staircase_rows},
    {"chase", "docs/methods/chase.md", chase_rows},
    {"topology", "docs/methods/topology.md", topology_rows},
    {"placement", "docs/methods/placement.md", placement_rows},
    {"slices", "docs/methods/slices.md", slice_rows},
    {"sharing", "docs/methods/sharing.md", sharing_rows, caches, is_shared},
    {"sharing", "docs/methods/sharing.md", array_rows},
    {"shared", "Mei and Chu 2016, section 6.2", shared_latency_rows},
    {"shared", "Mei and Chu 2016, table VIII", conflict_rows, thread_counts, are_several},
    {"shared", shared_page, shared_rows},
    {"shared", shared_page, atomic_word_rows, thread_counts},
    {"shared", shared_page, atomic_bank_rows, thread_counts, are_several},
    {"shared", shared_page, shared_atomic_rows},
    {"arithmetic", wong_4_b, operation_rows, factors_of<arithmetic_ops>},
    {"arithmetic", wong_fig_6, warp_sweep_rows, factors_of<arithmetic_ops>,
     is_among<arithmetic_warp_sweeps>},
    {"arithmetic", arithmetic_page, ilp_sweep_rows, factors_of<arithmetic_ops>,
     is_among<arithmetic_ilp_sweeps>},
    {"arithmetic", arithmetic_page, sm_map_rows, factors_of<arithmetic_ops>,
     is_among<arithmetic_sm_maps>},
    {"arithmetic", arithmetic_page, pair_rows, factors_of<arithmetic_pairs>},
    {"arithmetic", arithmetic_page, issue_rows},
    {"dsm", "docs/methods/dsm.md", dsm_rows},
    {"host", "docs/methods/host.md", host_rows},
    {"control", control_page, control_rows},
    {"registers", "docs/methods/registers.md", register_rows},
    {"global.throughput", "Mei and Chu 2016, section 5.1", global_rows},
    {"global.throughput", mei_fig_12, surface_rows, surface_kinds},
    {"global.throughput", global_page, element_axis_rows},
    {"global.throughput", global_page, element_rows, stream_kinds},
    {"global.throughput", global_page, way_rows, stream_ways},
    {"global.throughput", global_page, tile_latency_rows},
    {"l2.throughput", "docs/methods/l2-throughput.md", l2_throughput_rows},
    {"constant.throughput", "docs/methods/constant-throughput.md", constant_axis_rows},
    {"constant.throughput", "docs/methods/constant-throughput.md", constant_rows, constant_levels},
    {"bypass", bypass_page, bypass_rows},
    {"soak", "docs/methods/soak.md", soak_rows},
    {"peer", "docs/methods/peer.md", peer_rows},
    {"", cache_page, cache_rows, caches, has_sets},
    {"", cache_page, set_rows, caches, has_sets},
    {"", cache_page, cache_rows, caches, [](const Factor& cache) { return cache.is_code; }},
    {"", latency_page, latency_rows_of_loads, caches, is_of_loads},
    {"", latency_page, latency_rows_of_inner, caches, is_inner},
    {"", latency_page, latency_rows_of_outer, caches, is_outer},
    {"", "docs/methods/conflict-sets.md", every_sm_rows, caches, is_first},
    {"", "docs/methods/tlb.md", tlb_level_rows, tlb_levels},
};

class Registry {
 public:
  Registry() {
    for (const Section& section : sections) {
      for (const Factor& factor : section.factors) {
        if (!section.picks(factor)) continue;
        for (const Row& row : section.rows) add(section, factor, row);
      }
    }
  }

  std::span<const Metric> metrics() const { return metrics_; }

 private:
  std::string_view fill_in(std::string_view text, std::string_view factor) {
    return texts_.emplace_back(fmt::format(fmt::runtime(text), factor));
  }

  /// Adds after the job's other metrics: the metrics of a job are adjacent.
  void add(const Section& section, const Factor& factor, const Row& row) {
    const Metric metric{.name = fill_in(row.name, factor.name),
                        .unit = row.quantity.unit,
                        .kind = row.quantity.kind,
                        .better = row.quantity.better,
                        .job = section.job.empty() ? factor.job : section.job,
                        .meaning = fill_in(row.meaning, factor.meaning),
                        .source = row.source.empty() ? section.source : row.source,
                        .not_compared = row.not_compared,
                        .warn = row.quantity.warn,
                        .fail = row.quantity.fail};
    const auto last = std::find_if(metrics_.rbegin(), metrics_.rend(),
                                   [&](const Metric& other) { return other.job == metric.job; });
    metrics_.insert(last == metrics_.rend() ? metrics_.end() : last.base(), metric);
  }

  std::deque<std::string> texts_;
  std::vector<Metric> metrics_;
};

}  // namespace
}  // namespace sonde::registry

namespace sonde {
namespace {

std::unordered_map<std::string_view, const Metric*> index_by_name(std::span<const Metric> metrics) {
  std::unordered_map<std::string_view, const Metric*> by_name;
  for (const Metric& metric : metrics) by_name.try_emplace(metric.name, &metric);
  return by_name;
}

}  // namespace

std::span<const Metric> all_metrics() {
  static const registry::Registry registry;
  return registry.metrics();
}

const Metric* find_metric(std::string_view name, std::span<const Metric> registry) {
  if (registry.data() == all_metrics().data() && registry.size() == all_metrics().size()) {
    static const auto by_name = index_by_name(registry);  // exports look up every finding
    const auto found = by_name.find(name);
    return found != by_name.end() ? found->second : nullptr;
  }
  for (const Metric& metric : registry) {
    if (metric.name == name) return &metric;
  }
  return nullptr;
}

}  // namespace sonde
