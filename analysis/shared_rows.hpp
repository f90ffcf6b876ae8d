// Rows of the registry of the job shared: latency, conflicts, banks, copies and their surface, the
// check for a cache, and atomics.
#pragma once

#include "analysis/metric_rows.hpp"

namespace sonde::registry {

inline constexpr std::string_view shared_page = "docs/methods/shared.md";
inline constexpr std::string_view mei_fig_15 = "Mei and Chu 2016, figure 15";
inline constexpr std::string_view mei_fig_16 = "Mei and Chu 2016, figure 16";
inline constexpr std::string_view mei_fig_19 = "Mei and Chu 2016, figure 19";
inline constexpr std::string_view wong_4_f = "Wong 2010, section IV-F";
inline constexpr Quantity copy_rates{"byte/cycle", fingerprint, neither};

inline constexpr Factor conflict_ways[] = {
    {"2", "2"}, {"4", "4"}, {"8", "8"}, {"16", "16"}, {"32", "32"}};
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
    {"shared.peak_bytes_per_cycle_per_sm", Quantity{"byte/cycle", structural, higher},
     "banks x their width", "Mei and Chu 2016, table VII"},
    {"shared.efficiency", gain, "bytes_per_cycle_per_sm / peak_bytes_per_cycle_per_sm",
     "Mei and Chu 2016, table VII"},
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
    {"shared.surface_bytes_per_cycle", copy_rates, "copy throughput of an SM at each shape",
     mei_fig_16},
    {"shared.surface_warps", list, "active warps of an SM at each shape", mei_fig_15},
    {"shared.matrix_warps", list, "axis of matrix_bytes_per_cycle: active warps of an SM",
     mei_fig_16},
    {"shared.matrix_ilp", list, "axis of matrix_bytes_per_cycle: ILP", mei_fig_16},
    {"shared.matrix_bytes_per_cycle", copy_rates,
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

/// Atomic additions; "{}": threads that meet in a word or, with words of their own, in a bank.
inline constexpr Factor atomic_threads[] = {{"1", "1"}, {"2", "2"},   {"4", "4"},
                                            {"8", "8"}, {"16", "16"}, {"32", "32"}};
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

}  // namespace sonde::registry
