// Rows of the metric registry: global memory, L2, shared memory, constants, bypassing.
#pragma once

#include "analysis/metric_rows.hpp"

namespace sonde::registry {

inline constexpr Quantity operations_per_s{"1/s", continuous, higher};

inline constexpr Row global_rows[] = {
    {"global.theoretical_bytes_per_s", Quantity{"byte/s", structural, higher},
     "memory clock x transfers per clock x bus width"},
    {"global.read_bytes_per_s", throughput, "reading global memory, best shape"},
    {"global.write_bytes_per_s", throughput, "writing global memory, best shape"},
    {"global.copy_bytes_per_s", throughput, "copying, read and written bytes, best shape"},
    {"global.efficiency", gain, "best read / theoretical", "Mei and Chu 2016, table VI"},
    {"global.best_shape", Quantity{"", fingerprint, neither},
     "CTA size x CTA count x ILP of the best read", mei_fig_12},
    {"global.littles_law_bytes_in_flight", amount, "bytes in flight that the best read needs",
     littles_law},
    {"global.littles_law_latency_ns", delay,
     "latency that the rise of throughput with bytes in flight implies", littles_law},
    {"global.littles_law_r2", number,
     "how well throughput below half of the best follows that line", global_page,
     "it describes the fit, not the device"},
};

inline constexpr Factor surface_kinds[] = {{"", "read"}, {"write_", "write"}, {"copy_", "copy"}};
inline constexpr Row surface_rows[] = {
    {"global.{}surface_block_threads", list, "axis of the {} surface: CTA size"},
    {"global.{}surface_blocks", list, "axis of the {} surface: CTA count"},
    {"global.{}surface_ilp", list, "axis of the {} surface: ILP"},
    {"global.{}surface_bytes_per_s", rate_curve, "{} throughput at each shape"},
};

inline constexpr Row element_axis_rows[] = {
    {"global.element_bytes", footprints, "widths of loads and stores of the series below"},
};
inline constexpr Factor stream_kinds[] = {{"read", "read"}, {"write", "write"}, {"copy", "copy"}};
inline constexpr Row element_rows[] = {
    {"global.{}_by_element_bytes_per_s", rate_curve,
     "{} throughput with each of element_bytes, shape of the best with 16 bytes; 0: refused"},
};

inline constexpr Factor stream_ways[] = {
    {"read_no_allocate", "reading with loads that leave no line in the L1, shape of the best read"},
    {"read_evict_first", "reading with loads whose lines caches drop first"},
    {"write_evict_first",
     "writing with stores whose lines caches drop first, shape of the best write"},
    {"write_write_through", "writing with stores that go through the L2"},
    {"copy_no_allocate", "copying with such loads (no_allocate), shape of the best copy"},
    {"copy_evict_first", "copying with such loads and stores (evict_first)"},
    {"copy_write_through", "copying with such stores (write_through)"},
    {"bulk_read", "reading into shared memory by the engine for bulk copies, best shape"},
    {"bulk_copy", "copying by that engine, read and written bytes, best shape"},
};
inline constexpr Row way_rows[] = {
    {"global.{}_bytes_per_s", throughput, "{}"},
};

inline constexpr Row tile_latency_rows[] = {
    {"global.light_latency_ns", delay,
     "from the issue of a load to its arrival, one warp with one load under way on each SM"},
    {"global.loaded_latency_ns", delay,
     "the same while all threads of each SM have a load under way"},
    {"global.loaded_bytes_in_flight", amount,
     "loaded_latency_ns x the throughput that it was measured at", littles_law},
};

/// Each process gets other memory: on one H200 the median of 24 replicates moved by 3.8 % over ten
/// runs (docs/results/h200.md, 2026-11-28).
inline constexpr Quantity by_placed_memory{"byte/s", continuous, higher, 0.05, 0.08};

inline constexpr Row l2_throughput_rows[] = {
    {"l2.footprint_bytes", footprints, "lines that were read and written, all of them in the L2"},
    {"l2.read_bytes_per_s", throughput, "reading what lies in the L2, each SM other lines"},
    {"l2.write_bytes_per_s", throughput, "writing what lies in the L2"},
    {"l2.same_lines_bytes_per_s", throughput,
     "all SMs together, when they read the same lines at the same time", "",
     "it shows that reads are merged, and varies by 2.5 % on one GPU"},
    {"l2.near_bytes_per_s", by_placed_memory,
     "reading lines whose home is the partition near the SM that reads"},
    {"l2.far_bytes_per_s", by_placed_memory,
     "reading lines whose home is the far partition, or the copies of them in the near partition"},
    {"l2.both_bytes_per_s", throughput, "each SM reads lines of both partitions"},
    {"l2.near_write_bytes_per_s", throughput,
     "writing lines whose home is the partition near the SM that writes"},
    {"l2.far_write_bytes_per_s", throughput, "writing lines whose home is the far partition"},
    {"l2.near_atomics_per_s", operations_per_s,
     "additions of single threads to words of lines whose home is the partition near the SM"},
    {"l2.far_atomics_per_s", operations_per_s, "the same to lines whose home is the far partition"},
    {"l2.atomics_per_s", operations_per_s,
     "additions of single threads to words of their own, the best shape of reductions"},
    {"l2.same_line_atomics_per_s", operations_per_s,
     "the same by a warp of each SM to the 32 words of one line"},
};

inline constexpr std::string_view shared_page = "docs/methods/shared.md";
inline constexpr std::string_view mei_table_7 = "Mei and Chu 2016, table VII";
inline constexpr std::string_view mei_fig_15 = "Mei and Chu 2016, figure 15";
inline constexpr std::string_view mei_fig_16 = "Mei and Chu 2016, figure 16";
inline constexpr std::string_view mei_fig_19 = "Mei and Chu 2016, figure 19";
inline constexpr std::string_view wong_4_f = "Wong 2010, section IV-F";

/// Ways of a conflict; or threads that share a word, or a bank with a word each.
inline constexpr Factor thread_counts[] = {{"1", "1"}, {"2", "2"},   {"4", "4"},
                                           {"8", "8"}, {"16", "16"}, {"32", "32"}};
constexpr bool are_several(const Factor& threads) { return threads.name != "1"; }
inline constexpr Row conflict_rows[] = {
    {"shared.conflict_cycles.{}", latency, "latency under {}-way bank conflicts"},
};

inline constexpr Row shared_latency_rows[] = {
    {"shared.latency_cycles", latency, "load to use without conflict"},
    {"shared.amortised_latency_cycles", latency,
     "the same from a loop timed as a whole, with the loop's own cycles",
     "Mei and Chu 2016, listing 4"},
};

inline constexpr Row shared_rows[] = {
    {"shared.conflict_cost_cycles", latency, "latency of each further way of a conflict"},
    {"shared.conflict_linearity_r2", number, "how well latency follows a line in the ways"},
    {"shared.bank_count", count, "banks"},
    {"shared.bank_bytes", size, "width of a bank"},
    {"shared.stride_latency_cycles", curve, "latency by stride 0..64, 4-byte words", mei_fig_19},
    {"shared.stride_latency_8b_cycles", curve, "latency by stride 0..64, 8-byte words", mei_fig_19},
    {"shared.stride_latency_wide_mode_cycles", curve,
     "latency by stride 0..64, 4-byte words, banks in 8-byte mode", mei_fig_19},
    {"shared.bytes_per_cycle_per_sm", sm_throughput,
     "copy inside shared memory, read and written bytes, best shape", mei_6_1},
    {"shared.bytes_per_cycle_per_sm_8b", sm_throughput, "the same with 8-byte words", mei_6_1},
    {"shared.bank_words_per_cycle", Quantity{"1/cycle", continuous, higher},
     "words that a bank gives if all warps only load", mei_table_7},
    {"shared.peak_bytes_per_cycle_per_sm", Quantity{"byte/cycle", structural, higher},
     "banks x their width / whole cycles for a word", mei_table_7},
    {"shared.efficiency", gain, "bytes_per_cycle_per_sm / peak_bytes_per_cycle_per_sm",
     mei_table_7},
    {"shared.littles_law_warps", number,
     "warps with a load of a word under way that the peak needs: peak x latency / bytes of a load",
     mei_6_1},
    {"shared.bytes_per_s_per_sm", throughput, "bytes_per_cycle_per_sm x SM clock", mei_6_1},
    {"shared.best_shape", Quantity{"", fingerprint, neither},
     "CTA size x CTAs per SM x ILP of the best copy", mei_6_1},
    {"shared.surface_block_threads", list, "axis of surface_bytes_per_cycle: CTA size", mei_fig_16},
    {"shared.surface_blocks_per_sm", list, "axis of surface_bytes_per_cycle: CTAs per SM",
     mei_fig_16},
    {"shared.surface_ilp", list, "axis of surface_bytes_per_cycle: ILP", mei_fig_16},
    {"shared.surface_bytes_per_cycle", sm_rates, "copy throughput of an SM at each shape",
     mei_fig_16},
    {"shared.surface_warps", list, "active warps of an SM at each shape", mei_fig_15},
    {"shared.matrix_warps", list, "axis of matrix_bytes_per_cycle: active warps of an SM",
     mei_fig_16},
    {"shared.matrix_ilp", list, "axis of matrix_bytes_per_cycle: ILP", mei_fig_16},
    {"shared.matrix_bytes_per_cycle", sm_rates,
     "copy throughput of the best shape with so many warps and that ILP", mei_fig_16},
    {"shared.cached", text, "whether latency depends on the footprint, as behind a cache",
     wong_4_f},
    {"shared.footprint_deviation_cycles", Quantity{"cycle", inventory, neither},
     "largest less smallest of footprint_latency_cycles", wong_4_f},
    {"shared.footprint_bytes", footprints, "axis of footprint_latency_cycles", wong_4_f},
    {"shared.footprint_step_bytes", footprints,
     "axis of footprint_latency_cycles: from one word to the next", wong_4_f},
    {"shared.footprint_latency_cycles", curve,
     "latency of one thread that loads the words of a footprint", wong_4_f},
};

inline constexpr Row atomic_word_rows[] = {
    {"shared.atomic_cycles.{}", latency,
     "atomic addition with a used result, {} threads of a warp for each word"},
    {"shared.atomic_unused_cycles.{}", latency, "the same, result not used, {} threads"},
    {"shared.atomic_counted_cycles.{}", latency, "the same, of the constant 1, {} threads"},
};
inline constexpr Row atomic_bank_rows[] = {
    {"shared.atomic_bank_cycles.{}", latency,
     "atomic addition with a used result, {} threads of a warp with words of one bank"},
    {"shared.atomic_unused_bank_cycles.{}", latency, "the same, result not used, {} threads"},
};
inline constexpr Row shared_atomic_rows[] = {
    {"shared.atomic_cost_cycles", latency, "what each further thread at a word adds"},
    {"shared.atomic_bank_cost_cycles", latency,
     "what each further thread with a word of the same bank adds"},
};

inline constexpr std::string_view wong_fig_19 = "Wong 2010, figure 19";

inline constexpr Factor constant_levels[] = {
    {"l1", "first cache of the constant bank"},
    {"l2", "second cache of the constant bank"},
    {"l3", "third cache of the constant bank"},
};
inline constexpr Row constant_axis_rows[] = {
    {"constant.blocks", list, "numbers of blocks, each on an SM of its own, of the curves below",
     wong_fig_19},
    {"constant.uneven_blocks", list, "more blocks than SMs: axis of uneven_bytes_per_cycle",
     wong_fig_19},
};
inline constexpr Row constant_rows[] = {
    {"constant.{}.bytes_per_cycle", sm_throughput,
     "all blocks together, when more blocks add nothing, best shape ({})", wong_fig_19},
    {"constant.{}.sm_bytes_per_cycle", sm_throughput, "one SM alone, same shape ({})", wong_fig_19,
     "of the second cache one H200 had 4.8 to 5.2 in three runs"},
    {"constant.{}.in_tpc_bytes_per_cycle", sm_rates, "one SM while all SMs of its TPC load ({})"},
    {"constant.{}.in_gpc_bytes_per_cycle", sm_rates, "one SM while all SMs of its GPC load ({})"},
    {"constant.{}.in_all_bytes_per_cycle", sm_rates, "one SM while all SMs load ({})"},
    {"constant.{}.bottleneck", text,
     "the smallest group of SMs that shares the bottleneck: sm, tpc, gpc or device; "
     "\"gpc or device\" if GPCs are unknown ({})"},
    {"constant.{}.plateau_blocks", list,
     "number of blocks from which on more blocks add nothing ({})", wong_fig_19},
    {"constant.{}.one_thread_bytes_per_cycle", sm_rates,
     "all blocks together at each of constant.blocks, one thread of each loads ({})", wong_fig_19},
    {"constant.{}.eight_threads_bytes_per_cycle", sm_rates,
     "the same, eight threads of one warp load ({})", wong_fig_19},
    {"constant.{}.uneven_bytes_per_cycle", sm_rates,
     "one thread of each block, at each of constant.uneven_blocks: some SMs run two ({})",
     wong_fig_19},
    {"constant.{}.joint_bytes_per_cycle", sm_rates, "the same with the best shape ({})"},
    {"constant.{}.best_shape", Quantity{"", fingerprint, neither},
     "warps of a block x threads of a warp that load, of the fastest shape of one SM ({})"},
    {"constant.{}.footprint_bytes", Quantity{"byte", inventory, neither},
     "what each block reads, over and over ({})"},
};

inline constexpr std::string_view bypass_page = "docs/methods/bypass.md";
inline constexpr std::string_view fits_a_model = "it describes the fit of a model, not the device";

inline constexpr Row bypass_rows[] = {
    {"bypass.l1_bytes", amount,
     "size of the L1 for all other rows of bypass: the smallest of this GPU", "",
     "cache.l1.size_by_carveout_bytes is compared instead, and may be an interval"},
    {"bypass.large_l1_bytes", amount, "size of the largest L1, if the size can be chosen", "",
     "cache.l1.size_by_carveout_bytes is compared instead, and may be an interval"},
    {"bypass.path_hit_fractions", list,
     "share of the loads of a warp alone that hit in the L1 what it loaded before: with ld.cg, "
     "with L1::no_allocate, with L1::evict_first"},
    {"bypass.patterns", label, "access patterns, in the order of the vectors below"},
    {"bypass.units", list, "N by pattern: warps of a block, or blocks of an SM, that may bypass"},
    {"bypass.cached", list,
     "numbers L that used the L1, pattern after pattern, each from 0 to its N"},
    {"bypass.accesses_per_cycle", rates, "performance of an SM with each of bypass.cached",
     "Dai 2016, section 7.1 (MIPC)"},
    {"bypass.estimated_hits", list,
     "lines of loads of an SM that hit by shadow tags, with each of bypass.cached",
     "Dai 2016, section 6"},
    {"bypass.congestion", list,
     "window of a load through the L1 / that of a warp alone, with each of bypass.cached"},
    {"bypass.best_l", list, "L that performs best, by pattern"},
    {"bypass.best_speedup", list, "performance at the best L / with all using the L1, by pattern"},
    {"bypass.none_speedup", list,
     "performance with none using the L1 (ld.cg) / with all, by pattern"},
    {"bypass.no_allocate_speedup", list, "the same by L1::no_allocate"},
    {"bypass.evict_first_speedup", list, "the same by L1::evict_first"},
    {"bypass.throttled_speedup", list,
     "performance with the best of fewer warps at a time, all using the L1 / with all warps",
     "Dai 2016, section 7.1 (SWL)"},
    {"bypass.large_l1_speedup", list,
     "with the largest L1: performance with the best of none, half and all using it / with all"},
    {"bypass.model_l", list, "L that the model prefers, by pattern", "Dai 2016, section 5"},
    {"bypass.model_speedup", list, "performance at model_l / with all using the L1, by pattern"},
    {"bypass.advice", label, "who should bypass on this GPU, in words, by pattern"},
    {"bypass.exponent", number,
     "exponent of the waiting time of loads through the L1, which grows as (L/N)^exponent; from "
     "the training patterns",
     "", fits_a_model},
    {"bypass.exponent_r2", number, "how well the waiting times follow this power law", "",
     fits_a_model},
    {"bypass.e", number, "weight of congestion, from the training patterns", "", fits_a_model},
    {"bypass.gaining_patterns", number,
     "patterns outside the training set that gain 5 % or more by bypassing", "",
     "a pattern near 5 % is counted in some runs and not in others"},
    {"bypass.near_fraction", number,
     "share of the gaining patterns for which the model's L is within 3 % of the best", "",
     "a pattern near 5 % is counted in some runs and not in others"},
};

}  // namespace sonde::registry
