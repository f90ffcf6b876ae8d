// Rows of the registry of metrics: bypassing (job `bypass`).
#pragma once

#include "analysis/metric_rows.hpp"

namespace sonde::registry {

inline constexpr std::string_view bypass_page = "docs/methods/bypass.md";
inline constexpr std::string_view neighbours_alike =
    "neighbouring numbers perform alike, so that it may change from run to run";

inline constexpr Row bypass_rows[] = {
    {"bypass.l1_bytes", amount, "size of the L1 that all below is for: the smallest there is", "",
     "cache.l1.size_by_carveout_bytes is compared, and may have a gradual edge"},
    {"bypass.large_l1_bytes", amount, "size of the largest L1, where one can choose", "",
     "cache.l1.size_by_carveout_bytes is compared, and may have a gradual edge"},
    {"bypass.path.past_l1_hit_fraction", number,
     "loads with ld.cg that find in the L1 what they loaded before"},
    {"bypass.path.no_allocate_hit_fraction", number,
     "the same with L1::no_allocate: 0 if the hint does what it says"},
    {"bypass.path.evict_first_hit_fraction", number, "the same with L1::evict_first"},
    {"bypass.exponent", number,
     "what loads wait on the way through the L1 ~ (L/N)^exponent, over the programs that teach", "",
     "it tells how a model fits, not what a device is"},
    {"bypass.exponent_r2", number, "how well they follow that power", "",
     "it tells how a model fits, not what a device is"},
    {"bypass.e", number, "weight of congestion, by the programs that teach", "",
     "it tells how a model fits, not what a device is"},
    {"bypass.held_out.programs", of_one_die, "programs that the model was not taught"},
    {"bypass.held_out.gaining", number, "of these, that gain 5 % or more by bypassing", "",
     "a program near 5 % comes and goes"},
    {"bypass.held_out.near_fraction", number,
     "of those, for which the model's L is within 3 % of the best", "",
     "a program near 5 % comes and goes"},
};

/// In the order of Dai 2016, table 2; then those made for the L1 at hand.
inline constexpr Factor bypass_programs[] = {
    {"ptf", "ptf"},       {"sc", "sc"},           {"bh", "bh"},          {"hst", "hst"},
    {"s2k", "s2k"},       {"kms", "kms"},         {"gmv", "gmv"},        {"atx", "atx"},
    {"mvt", "mvt"},       {"bic", "bic"},         {"scp", "scp"},        {"cvr", "cvr"},
    {"lud", "lud"},       {"sr2", "sr2"},         {"2df", "2df"},        {"2dv", "2dv"},
    {"rows_8", "rows_8"}, {"rows_16", "rows_16"}, {"rows_32", "rows_32"}};
inline constexpr Row bypass_program_rows[] = {
    {"bypass.{}.units", number, "N of {}: warps of a block, or blocks of an SM, that may bypass"},
    {"bypass.{}.cached", list, "numbers L of them that used the L1"},
    {"bypass.{}.accesses_per_cycle", rates, "performance of an SM with each of those L",
     "Dai 2016, section 7.1 (MIPC)"},
    {"bypass.{}.cycles", curve, "cycles of the longest warp with each of those L"},
    {"bypass.{}.estimated_hits", list,
     "lines of loads of an SM that hit by shadow tags, with each of them", "Dai 2016, section 6"},
    {"bypass.{}.congestion", number, "window of a load / that of a warp alone, all using the L1",
     "", "it differs with the order in which warps come"},
    {"bypass.{}.issue_cycles", cycles, "that a load takes to issue, all using the L1", "",
     "it differs with the order in which warps come"},
    {"bypass.{}.best_l", number, "L that performs best", "", neighbours_alike},
    {"bypass.{}.speedup", gain, "performance at the best L / with all using the L1"},
    {"bypass.{}.bypass_speedup", gain, "performance with none using the L1 (ld.cg) / with all"},
    {"bypass.{}.no_allocate_speedup", gain, "the same by L1::no_allocate"},
    {"bypass.{}.evict_first_speedup", gain, "the same by L1::evict_first"},
    {"bypass.{}.throttled_speedup", gain,
     "performance with fewer warps at a time, all using the L1 / with all warps",
     "Dai 2016, section 7.1 (SWL)"},
    {"bypass.{}.throttled_warps", number, "that number of warps", "", neighbours_alike},
    {"bypass.{}.model_l", number, "L that the model prefers", "Dai 2016, section 5",
     neighbours_alike},
    {"bypass.{}.model_speedup", gain, "performance at model_l / with all using the L1", "",
     neighbours_alike},
    {"bypass.{}.advice", label, "who should bypass on this GPU, in words"},
    {"bypass.{}.windows.hits", list, "loads of an SM that hit, timed one by one, with each L"},
    {"bypass.{}.windows.hit_cycles", curve, "their median window"},
    {"bypass.{}.windows.congestion", list,
     "window of a load through the L1 / that of a warp alone"},
    {"bypass.{}.windows.issue_cycles", curve, "that a load takes to issue, with each L"},
    {"bypass.{}.large_l1.speedups", list,
     "with the largest L1: performance with 0, half and all using it (full: each L) / with all"},
    {"bypass.{}.large_l1.advice", label, "who should bypass then, in words"},
};

}  // namespace sonde::registry
