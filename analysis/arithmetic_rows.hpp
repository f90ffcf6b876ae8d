// Rows of the metric registry: arithmetic, control flow, registers and clocks.
#pragma once

#include "analysis/metric_rows.hpp"
#include "base/arithmetic_ops.hpp"

#include <algorithm>
#include <array>

namespace sonde::registry {

inline constexpr std::string_view arithmetic_page = "docs/methods/arithmetic.md";
inline constexpr std::string_view wong_4_b = "Wong 2010, section IV-B";
inline constexpr std::string_view wong_fig_6 = "Wong 2010, figure 6";
inline constexpr Quantity operation_rate{"1/cycle", continuous, higher};

/// Factors from operations, or from pairs of operations, in the same order.
template <const auto& named>
inline constexpr auto factors_of = [] {
  std::array<Factor, named.size()> factors{};
  for (std::size_t i = 0; i < factors.size(); ++i) factors[i] = {named[i].name, named[i].meaning};
  return factors;
}();

template <const auto& names>
bool is_among(const Factor& op) {
  return std::ranges::find(names, op.name) != names.end();
}
inline constexpr Row operation_rows[] = {
    {"arithmetic.{}.latency_cycles", latency,
     "{}: latency of a step that depends on the step before"},
    {"arithmetic.{}.throughput_per_cycle_per_sm", operation_rate,
     "{}: results of threads per cycle of a full SM; of matrices, multiply-adds"},
};
inline constexpr Row warp_sweep_rows[] = {
    {"arithmetic.{}.by_warps_cycles", curve, "{}: time of a step by arithmetic.warps, one chain"},
    {"arithmetic.{}.by_warps_per_cycle", rates,
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
     "{}: share of the faster operation that overlaps the slower one; 0: no overlap", "",
     "it is a difference of two nearly equal times"},
    {"arithmetic.{}.issue_per_cycle_per_sm", operation_rate,
     "{}: steps of warps per cycle, both together"},
};
inline constexpr Row issue_rows[] = {
    {"arithmetic.warps", list, "warps on an SM: axis of by_warps_*", wong_fig_6},
    {"arithmetic.ilp", list, "chains a thread: axis of by_ilp_cycles"},
    {"arithmetic.schedulers", count, "schedulers among which the warps of an SM are divided"},
    {"arithmetic.issue_per_cycle_per_sm", operation_rate,
     "most steps of warps per cycle of any operation or pair"},
    {"arithmetic.issue_per_cycle_per_scheduler", operation_rate, "the same of one scheduler"},
};

inline constexpr std::string_view wong_branches = "Wong 2010, section IV-C";
inline constexpr std::string_view control_page = "docs/methods/control.md";

inline constexpr Row control_rows[] = {
    {"control.divergence_model", text,
     "stack: one path of a diverged warp runs to its end before the next path begins; independent: "
     "the paths take turns",
     wong_branches},
    {"control.paths", text, "whether the paths of a diverged warp run one after the other",
     wong_branches},
    {"control.warps", text, "whether paths of different warps overlap", wong_branches},
    {"control.first_path", text, "side of a branch that runs first: taken or fall_through",
     wong_branches},
    {"control.order_depends_on", text,
     "what changes the order of the paths: nothing, the numbers of threads, how many are active",
     wong_branches},
    {"control.path_order", list, "paths of a chain of 32 branches in the order in which they ran",
     "Wong 2010, figure 8"},
    {"control.switch_order", list, "the same of the 32 cases of a switch", "Wong 2010, figure 7"},
    {"control.reconvergence", text, "where diverged threads reconverge", wong_branches},
    {"control.divergence_cost_cycles", latency,
     "cost of each further path beyond its own operations"},
    {"control.reconvergence_cycles", cycles,
     "from the end of the last path until the threads reconverge, minus the same time of a warp "
     "that did not diverge",
     control_page, whole_cycles},
    {"control.path_counts", list, "paths of a warp: axis of the next row"},
    {"control.by_paths_cycles", curve, "from before a switch to after it, by number of paths"},
    {"control.timeline_begin_cycles", curve,
     "when each of 32 paths began: those of the first warp by number, then of the next",
     "Wong 2010, figure 7"},
    {"control.timeline_end_cycles", curve, "when each ended", "Wong 2010, figure 7"},
    {"control.nested_depths", list, "levels of nested branches: axis of the next row"},
    {"control.nested_by_depth_cycles", curve,
     "from before a nest of branches to after it, by its depth; each level halves the threads"},
    {"control.nested_cost_cycles", latency,
     "cost of each further division of a warp in such a nest, beyond the operations of its path"},
    {"control.nested_join_cycles", latency,
     "what each level adds to the time from the end of the last path until the threads reconverge"},
    {"control.nested_order", list, "paths of the deepest nest in the order in which they ran"},
    {"control.nested_begin_cycles", curve, "when each path of it began, by number"},
    {"control.nested_end_cycles", curve, "when each ended"},
    {"control.spin_release_deadlocks", text,
     "whether spinning threads block the threads that would release them", "Wong 2010, listing 4"},
    {"control.barrier_spin_deadlocks", text,
     "whether a warp at a barrier and a warp that spins for its signal deadlock",
     "Wong 2010, listing 6"},
    {"control.barrier_participant", text,
     "what a barrier counts: threads, warps, or each path of a warp as a warp",
     "Wong 2010, listings 5 and 7"},
    {"control.barrier_latency_cycles", latency, "barrier of a block of one warp",
     "Wong 2010, section IV-D"},
    {"control.barrier_clock_pair_cycles", latency, "the same with a clock read after it", mei_6_1},
    {"control.barrier_warp_cycles", latency, "what each further warp adds to it"},
    {"control.barrier_warps", list, "warps of a block: axis of the next row"},
    {"control.barrier_by_warps_cycles", curve, "barrier of a block, by its warps"},
    {"control.named_barrier_cycles", latency, "barrier of one warp by number and count"},
    {"control.cluster_barrier_cycles", latency, "barrier of a cluster of two blocks"},
    {"control.cluster_barrier_blocks", list, "blocks of a cluster: axis of the next row"},
    {"control.cluster_barrier_by_blocks_cycles", curve, "barrier of a cluster, by its blocks"},
    {"control.grid_barrier_cycles", latency,
     "barrier of one block on each SM by a counter in global memory", "",
     "it depends on which slice of the L2 has the counter"},
    {"control.nanosleep_least_ns", Quantity{"ns", inventory, neither},
     "shortest sleep: zero was asked for"},
    {"control.nanosleep_asked_ns", time_curve, "axis of the next row"},
    {"control.nanosleep_taken_ns", time_curve, "how long it took, median"},
    {"control.nanosleep_longest_ns", time_curve, "how long it took, 90th percentile"},
};

inline constexpr std::string_view wong_registers = "Wong 2010, section IV-E";

inline constexpr Row register_rows[] = {
    {"registers.per_sm", count, "registers of an SM", wong_registers},
    {"registers.max_per_thread", count, "most registers per thread with which a kernel ran",
     wong_registers},
    {"registers.allocation_unit", count,
     "multiple to which the registers of a thread are rounded up", wong_registers},
    {"registers.thread_quantum", count, "multiple to which the threads of a block are rounded up",
     wong_registers},
    {"registers.max_blocks_per_sm", count, "most blocks that an SM held at once"},
    {"registers.max_warps_per_sm", count, "most warps that an SM held at once"},
    {"registers.full_up_to", count, "most registers per thread with which it was full of warps"},
    {"registers.per_thread", list, "registers per thread: axis of the next row"},
    {"registers.resident_warps", list, "warps that an SM held at once, in blocks of 256 threads"},
    {"registers.block_threads", list, "threads of a block: axis of the next row"},
    {"registers.resident_blocks", list, "blocks of this size that an SM held at once",
     "Wong 2010, figure 9"},
    {"registers.two_blocks_shared_bytes", size,
     "most shared memory per block with which two blocks fit on an SM"},
};

inline constexpr Quantity launch_time{"ns", inventory, lower};
inline constexpr std::string_view wong_fig_5 = "Wong 2010, figure 5; docs/methods/clock.md";

inline constexpr Row clock_rows[] = {
    {"clock.overhead_cycles", cycles, "two clock reads back to back", mei_4_2},
    {"clock.window_cycles", cycles,
     "a timed window without its load: to be subtracted from timed windows", mei_4_2},
    {"clock.granularity_cycles", Quantity{"cycle", structural, neither},
     "step in which the SM clock counts", wong_4},
    {"clock.scope", text, "what shares one clock register: sm, tpc, gpc or device", wong_4},
    {"clock.globaltimer_step_ns", Quantity{"ns", structural, neither},
     "step of the device-wide timer", "PTX ISA, globaltimer"},
    {"clock.sm_hz", clock_rate, "SM clock against the device-wide timer"},
    {"clock.offset_cycles", curve,
     "clock of each SM minus the clock of the first, at the same time"},
    {"clock.group_of_sm", list, "SMs of one number read the same clock"},
    {"clock.load_hz", clock_rate, "SM clock against the device-wide timer while all SMs compute"},
    {"clock.load_ratio", number, "the same / the SM clock while they do not"},
    {"clock.settle_ms", Quantity{"ms", inventory, lower},
     "from the first moment of work until the SM clock is steady"},
    {"clock.jitter_fraction", alarm,
     "relative variation of the SM clock from one half millisecond to the next"},
    {"clock.sound", label,
     "whether cycles measured now can be compared with cycles measured at another time: yes, or no "
     "and why"},
    {"clock.launch_overhead_ns", launch_time,
     "an empty launch, until the host knows that it has ended"},
    {"clock.launch_queued_ns", launch_time, "each further empty launch queued behind it"},
    {"clock.launch_gap_ns", launch_time, "from the end of a launch to the beginning of the next",
     wong_fig_5},
    {"clock.launch_spread_ns", launch_time,
     "time from the first to the last begin of a block of a launch", wong_fig_5},
    {"clock.launch_order", text, "launches of one stream: serial or overlapping", wong_fig_5},
};

}  // namespace sonde::registry
