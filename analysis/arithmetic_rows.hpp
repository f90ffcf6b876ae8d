// Rows of the registry of the job arithmetic: what is asked of each operation, and of those that
// are swept.
#pragma once

#include "analysis/metric_rows.hpp"
#include "base/arithmetic_ops.hpp"

#include <array>

namespace sonde::registry {

inline constexpr std::string_view arithmetic_page = "docs/methods/arithmetic.md";
inline constexpr std::string_view wong_4_b = "Wong 2010, section IV-B";
inline constexpr std::string_view wong_fig_6 = "Wong 2010, figure 6";
inline constexpr Quantity operation_rate{"1/cycle", continuous, higher};

/// Factors of operations, in their order.
inline constexpr auto arithmetic_factors = [] {
  std::array<Factor, arithmetic_ops.size()> factors{};
  for (std::size_t i = 0; i < factors.size(); ++i) {
    factors[i] = {arithmetic_ops[i].name, arithmetic_ops[i].meaning};
  }
  return factors;
}();

/// The same of some of them.
template <std::size_t count>
constexpr std::array<Factor, count> factors_of(const std::array<std::string_view, count>& names) {
  std::array<Factor, count> factors{};
  for (std::size_t i = 0; i < count; ++i) {
    factors[i] = {names[i], find_arithmetic_op(names[i])->meaning};
  }
  return factors;
}
inline constexpr auto warp_sweep_factors = factors_of(arithmetic_warp_sweeps);
inline constexpr auto ilp_sweep_factors = factors_of(arithmetic_ilp_sweeps);
inline constexpr auto sm_map_factors = factors_of(arithmetic_sm_maps);
inline constexpr auto pair_factors = [] {
  std::array<Factor, arithmetic_pairs.size()> factors{};
  for (std::size_t i = 0; i < factors.size(); ++i) {
    factors[i] = {arithmetic_pairs[i].name, arithmetic_pairs[i].meaning};
  }
  return factors;
}();

inline constexpr Row operation_rows[] = {
    {"arithmetic.{}.latency_cycles", latency, "{}: time of a step on what the step before made"},
    {"arithmetic.{}.throughput_per_cycle_per_sm", operation_rate,
     "{}: results of threads per cycle of a full SM; of matrices, multiply-adds"},
};
inline constexpr Row warp_sweep_rows[] = {
    {"arithmetic.{}.by_warps_cycles", curve, "{}: time of a step by arithmetic.warps, one chain"},
    {"arithmetic.{}.by_warps_per_cycle", Quantity{"1/cycle", fingerprint, neither},
     "{}: results of threads per cycle by arithmetic.warps, one chain"},
};
inline constexpr Row ilp_sweep_rows[] = {
    {"arithmetic.{}.by_ilp_cycles", curve,
     "{}: time of a step of all chains of one warp by arithmetic.ilp", arithmetic_page},
};
inline constexpr Row sm_map_rows[] = {
    {"arithmetic.{}.by_sm_cycles", curve, "{}: latency by SM", arithmetic_page},
};
inline constexpr Row pair_rows[] = {
    {"arithmetic.{}.overlap", number,
     "{}: share of the faster one that is made while the slower one is; 0: they take turns", "",
     "it is a difference of times that are nearly equal"},
    {"arithmetic.{}.issue_per_cycle_per_sm", operation_rate,
     "{}: steps of warps per cycle, both together"},
};
inline constexpr Row issue_rows[] = {
    {"arithmetic.warps", list, "warps on an SM: axis of by_warps_*", wong_fig_6},
    {"arithmetic.ilp", list, "chains a thread: axis of by_ilp_cycles"},
    {"arithmetic.schedulers", count, "schedulers that the warps of an SM are dealt to"},
    {"arithmetic.issue_per_cycle_per_sm", operation_rate,
     "most steps of warps per cycle of any operation or pair"},
    {"arithmetic.issue_per_cycle_per_scheduler", operation_rate, "the same of one scheduler"},
};

}  // namespace sonde::registry
