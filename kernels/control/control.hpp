// Control flow: branches with stamped paths, threads that wait for each other, barriers, sleeping.
#pragma once

#include "kernels/placement.hpp"

#include <cstdint>

namespace sonde::kernels {

inline constexpr int branch_paths = 32;       // of a branch
inline constexpr int branch_operations = 16;  // dependent multiply-adds in each path

/// Clock reads of a thread: before the branch, at both ends of its path, after the branch.
struct BranchStamps {
  std::uint64_t before;
  std::uint64_t path_begin;
  std::uint64_t path_end;
  std::uint64_t behind;
};

struct BranchLaunch {
  Placement placement;
  LaneResult* results = nullptr;                     // [rank]
  BranchStamps* stamps = nullptr;                    // [rank * threads of a block + thread]
  std::uint32_t path_of_thread[32] = {};             // 0 .. branch_paths - 1
  std::uint32_t threads_of_path[branch_paths] = {};  // the same as a mask of threads
  std::uint32_t rounds = 2;  // a rehearsal and the measurement; unknown to the compiler
};

enum class Branch { switch_cases, else_chain };

Kernel<BranchLaunch> find_branches(Branch branch);

inline constexpr int branch_depth = 5;  // of the deepest nest

/// Nested branches of `depth` levels (0 .. branch_depth): the lowest `depth` bits of a thread's
/// path, the highest first, choose its sides. Null for a deeper nest.
Kernel<BranchLaunch> find_nested_branches(int depth);

enum class Wait { handshake, spin_release, barrier_against_spin, diverged_barrier };

/// Warps of a block of a waiting program, and the shared memory for their flags.
inline constexpr unsigned wait_warps = 2;
inline constexpr unsigned wait_shared_bytes = 8;

struct WaitLaunch {
  Placement placement;
  LaneResult* results = nullptr;      // [rank]
  std::uint64_t* cycles = nullptr;    // [rank * threads + thread]: since the start; 0: gave up
  std::uint64_t limit_cycles = 0;     // of each wait
  std::uint32_t first_of_upper = 16;  // first thread of the second path
};

/// For blocks of two warps.
Kernel<WaitLaunch> find_waits(Wait wait);

/// Barriers between two checks of the loop counter.
inline constexpr std::uint32_t barriers_in_row = 16;

/// The result has the elapsed cycles of `barriers`: a run of twice as many minus a run of as many.
struct BarrierLaunch {
  Placement placement;
  LaneResult* results = nullptr;  // [rank]
  std::uint32_t barriers = 0;     // a multiple of barriers_in_row
};

/// By all threads of a block: barrier 0, the same and a clock read, or barrier 1 with their number.
extern const Kernel<BarrierLaunch> block_barriers;
extern const Kernel<BarrierLaunch> clocked_barriers;
extern const Kernel<BarrierLaunch> named_barriers;

/// Barriers of the whole GPU by a counter in global memory; one thread on each wanted SM.
struct GridBarrierLaunch {
  Placement placement;
  LaneResult* results = nullptr;      // [rank]
  std::uint32_t* arrivals = nullptr;  // zero
  std::uint32_t barriers = 0;
};

extern const Kernel<GridBarrierLaunch> grid_barriers;

struct ClusterBarrierLaunch {
  ClusterLanes common;
  std::uint32_t barriers = 0;  // a multiple of barriers_in_row
};

extern const Kernel<ClusterBarrierLaunch> cluster_barriers;

struct SleepLaunch {
  Placement placement;
  LaneResult* results = nullptr;           // [rank]
  std::uint32_t* window_cycles = nullptr;  // [rank * samples]
  std::uint32_t samples = 0;
  std::uint32_t asked_ns = 0;
};

/// Sleeps of one thread of each wanted SM; stores the cycles of each.
extern const Kernel<SleepLaunch> sleeps;

}  // namespace sonde::kernels
