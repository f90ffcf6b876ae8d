// Rows of the registry of the jobs on control flow: branches, barriers, sleeping, and how many
// blocks an SM takes.
#pragma once

#include "analysis/metric_rows.hpp"

namespace sonde::registry {

inline constexpr std::string_view wong_branches = "Wong 2010, section IV-C";
inline constexpr std::string_view wong_barriers = "Wong 2010, section IV-D";
inline constexpr std::string_view control_page = "docs/methods/control.md";
inline constexpr Quantity time_curve{"ns", fingerprint, neither};

inline constexpr Row control_rows[] = {
    {"control.divergence_model", text,
     "stack: one path of a diverged warp runs to the end before the next; independent: paths make "
     "progress by turns",
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
    {"control.reconvergence", text, "where diverged threads run together again", wong_branches},
    {"control.divergence_cost_cycles", latency,
     "what each further path costs beyond its own operations"},
    {"control.reconvergence_cycles", cycles,
     "from the end of the last path until the threads run together, beyond a warp that did not "
     "diverge",
     control_page, whole_cycles},
    {"control.path_counts", list, "paths of a warp of the next row"},
    {"control.by_paths_cycles", curve, "from before a switch to behind it, by number of paths"},
    {"control.timeline_begin_cycles", curve,
     "when each of 32 paths began: those of the first warp by number, then of the next",
     "Wong 2010, figure 7"},
    {"control.timeline_end_cycles", curve, "when each ended", "Wong 2010, figure 7"},
    {"control.nested_depths", list, "levels of branches within each other of the next row"},
    {"control.nested_by_depth_cycles", curve,
     "from before a nest of branches to behind it, by its depth, each level halving the threads"},
    {"control.nested_cost_cycles", latency,
     "what each further division of a warp costs in it, beyond the operations of its path"},
    {"control.nested_join_cycles", latency,
     "what each level adds from the end of the last path until the threads run together"},
    {"control.nested_order", list, "paths of the deepest nest in the order in which they ran"},
    {"control.nested_begin_cycles", curve, "when each path of it began, by number"},
    {"control.nested_end_cycles", curve, "when each ended"},
    {"control.spin_release_deadlocks", text,
     "whether threads that spin keep those from going on who would release them",
     "Wong 2010, listing 4"},
    {"control.barrier_spin_deadlocks", text,
     "whether a warp at a barrier and one that spins for it wait for each other",
     "Wong 2010, listing 6"},
    {"control.barrier_participant", text,
     "what a barrier counts: threads, warps, or each path of a warp as a warp",
     "Wong 2010, listings 5 and 7"},
    {"control.barrier_latency_cycles", latency, "barrier of a block of one warp", wong_barriers},
    {"control.barrier_warp_cycles", latency, "what each further warp adds"},
    {"control.barrier_warps", list, "warps of the next row"},
    {"control.barrier_by_warps_cycles", curve, "barrier of a block, by its warps"},
    {"control.named_barrier_cycles", latency, "barrier of one warp by number and count"},
    {"control.cluster_barrier_cycles", latency, "barrier of a cluster of two blocks"},
    {"control.cluster_barrier_blocks", list, "blocks of a cluster of the next row"},
    {"control.cluster_barrier_by_blocks_cycles", curve, "barrier of a cluster, by its blocks"},
    {"control.grid_barrier_cycles", latency,
     "barrier of one block on each SM by a counter in global memory", "",
     "it hangs on which slice of the L2 has the counter"},
    {"control.nanosleep_least_ns", Quantity{"ns", inventory, neither}, "sleeping for no time"},
    {"control.nanosleep_asked_ns", Quantity{"ns", fingerprint, neither}, "axis of the next row"},
    {"control.nanosleep_taken_ns", time_curve, "how long it took, median"},
    {"control.nanosleep_longest_ns", time_curve, "how long it took, nine of ten are shorter"},
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
    {"registers.per_thread", list, "registers per thread of the next row"},
    {"registers.resident_warps", list, "warps that an SM held at once, in blocks of 256 threads"},
    {"registers.block_threads", list, "threads of a block of the next row"},
    {"registers.resident_blocks", list, "blocks of so many threads that an SM held at once",
     "Wong 2010, figure 9"},
    {"registers.two_blocks_shared_bytes", size,
     "most shared memory of a block with which two fit on an SM"},
};

}  // namespace sonde::registry
