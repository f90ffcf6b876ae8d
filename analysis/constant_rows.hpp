// Rows of the metric registry: bandwidth of the constant caches.
#pragma once

#include "analysis/metric_rows.hpp"

namespace sonde::registry {

inline constexpr Quantity constant_curve{"byte/cycle", fingerprint, neither};
inline constexpr std::string_view wong_fig_19 = "Wong 2010, figure 19";

/// Of the job constant.throughput.
inline constexpr Factor constant_levels[] = {
    {"l1", "first cache of the constant bank"},
    {"l2", "second cache of the constant bank"},
    {"l3", "third cache of the constant bank"},
};
inline constexpr Row constant_axis_rows[] = {
    {"constant.blocks", list, "numbers of blocks, each on an SM of its own, of the curves below",
     wong_fig_19},
};
inline constexpr Row constant_rows[] = {
    {"constant.{}.bytes_per_cycle", sm_throughput,
     "what all blocks together get where more bring no more, best shape ({})", wong_fig_19},
    {"constant.{}.sm_bytes_per_cycle", sm_throughput, "what an SM gets alone, same shape ({})",
     wong_fig_19, "one H200 had 4.8 to 5.2 of its second cache in three runs"},
    {"constant.{}.in_tpc_bytes_per_cycle", constant_curve,
     "what an SM gets while all of its TPC load ({})"},
    {"constant.{}.in_gpc_bytes_per_cycle", constant_curve, "while all of its GPC do ({})"},
    {"constant.{}.in_all_bytes_per_cycle", constant_curve, "while all SMs do ({})"},
    {"constant.{}.bottleneck", text,
     "the smallest group of SMs that shares what limits all: sm, tpc, gpc, device ({})"},
    {"constant.{}.plateau_blocks", list, "blocks from which on more bring no more ({})",
     wong_fig_19},
    {"constant.{}.one_thread_bytes_per_cycle", constant_curve,
     "all blocks together at each of constant.blocks, one thread of each loads ({})", wong_fig_19},
    {"constant.{}.eight_threads_bytes_per_cycle", constant_curve,
     "the same, eight threads of one warp load ({})", wong_fig_19},
    {"constant.{}.joint_bytes_per_cycle", constant_curve, "the same with the best shape ({})"},
    {"constant.{}.best_shape", Quantity{"", fingerprint, neither},
     "warps of a block x threads of each that load, of the shape that gives one SM most ({})"},
    {"constant.{}.footprint_bytes", Quantity{"byte", inventory, neither},
     "what each block reads, over and over ({})"},
};

}  // namespace sonde::registry
