// Rows of the registry of metrics: bypassing (job `bypass`). Most are vectors over the access
// patterns that bypass.patterns names.
#pragma once

#include "analysis/metric_rows.hpp"

namespace sonde::registry {

inline constexpr std::string_view bypass_page = "docs/methods/bypass.md";
inline constexpr std::string_view fits_a_model = "it tells how a model fits, not what a device is";

inline constexpr Row bypass_rows[] = {
    {"bypass.l1_bytes", amount, "size of the L1 that all below is for: the smallest there is", "",
     "cache.l1.size_by_carveout_bytes is compared, and may have a gradual edge"},
    {"bypass.large_l1_bytes", amount, "size of the largest L1, where one can choose", "",
     "cache.l1.size_by_carveout_bytes is compared, and may have a gradual edge"},
    {"bypass.path_hit_fractions", list,
     "loads of a warp alone that find in the L1 what it loaded before: with ld.cg, with "
     "L1::no_allocate, with L1::evict_first"},
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
     "what loads wait on the way through the L1 ~ (L/N)^exponent, over the patterns that teach", "",
     fits_a_model},
    {"bypass.exponent_r2", number, "how well they follow that power", "", fits_a_model},
    {"bypass.e", number, "weight of congestion, by the patterns that teach", "", fits_a_model},
    {"bypass.gaining_patterns", number,
     "patterns that the model was not taught and that gain 5 % or more by bypassing", "",
     "a pattern near 5 % comes and goes"},
    {"bypass.near_fraction", number, "of those, for which the model's L is within 3 % of the best",
     "", "a pattern near 5 % comes and goes"},
};

}  // namespace sonde::registry
