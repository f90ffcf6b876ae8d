// Rows of the registry of metrics: the figures of Dai 2016, which only a device that can be another
// machine answers (job `bypass`, full suite).
#pragma once

#include "analysis/bypass_rows.hpp"
#include "analysis/metric_rows.hpp"

#include <span>

namespace sonde::registry {

inline constexpr Row bypass_study_rows[] = {
    {"bypass.study.failures_cubic_r2", number,
     "reservation failures ~ (L/N)^3 over the five programs that teach", "Dai 2016, figure 4"},
    {"bypass.study.failures_exponent", number, "the power that they follow best",
     "Dai 2016, figure 4"},
    {"bypass.study.failures_exponent_r2", number, "and how well", "Dai 2016, figure 4"},
    {"bypass.study.high_speedups", list,
     "geometric means over programs of high contention: SWL-best, CBWT-best, MDB-local, MDB-global",
     "Dai 2016, figure 6"},
    {"bypass.study.low_speedups", list, "the same over programs of low contention",
     "Dai 2016, figure 6"},
};

/// The sixteen of the paper, which come first.
inline constexpr std::span<const Factor> paper_program_factors =
    std::span<const Factor>(bypass_programs).first<16>();

inline constexpr Row bypass_study_program_rows[] = {
    {"bypass.{}.study.l1_speedups", list,
     "performance with a modulo index, no L1, an L1 of 8 MB / with 16 KB by XOR",
     "Dai 2016, figure 2"},
    {"bypass.{}.study.cached_speedups", list, "performance with each L from 0 to N / with N",
     "Dai 2016, figure 3"},
    {"bypass.{}.study.cached_hits", list, "L1 hits per kilo-instruction with each of them",
     "Dai 2016, figure 3"},
    {"bypass.{}.study.cached_failures", list,
     "reservation failures per kilo-instruction with each of them", "Dai 2016, figures 3 and 4"},
    {"bypass.{}.study.scheme_speedups", list,
     "performance of SWL-best, CBWT-best, MDB-local, MDB-global / of the baseline",
     "Dai 2016, figure 6"},
    {"bypass.{}.study.swl_warps", number, "warps of an SM at a time in SWL-best",
     "Dai 2016, section 7.1"},
    {"bypass.{}.study.mdb_mean_l", number, "L that MDB-global chose, mean over its periods",
     "Dai 2016, section 6"},
    {"bypass.{}.study.scheme_hits", list,
     "L1 hits per kilo-instruction: baseline, SWL-best, CBWT-best, MDB-global",
     "Dai 2016, figure 7a"},
    {"bypass.{}.study.scheme_failures", list, "reservation failures per kilo-instruction of them",
     "Dai 2016, figure 7b"},
    {"bypass.{}.study.scheme_accesses_per_cycle", rates, "accesses of all SMs per cycle of them",
     "Dai 2016, figure 7c (MIPC)"},
    {"bypass.{}.study.scheme_l2_requests", list, "L2 requests per kilo-instruction of them",
     "Dai 2016, figure 7d"},
    {"bypass.{}.study.capacity_speedups", list,
     "performance with 32 KB, 64 KB, then 16, 32 and 64 KB with MDB-global / with 16 KB",
     "Dai 2016, figure 8a"},
    {"bypass.{}.study.scheduler_speedups", list,
     "performance with round robin, two-level, then GTO and these with MDB-global / with GTO",
     "Dai 2016, figure 8b"},
};

}  // namespace sonde::registry
