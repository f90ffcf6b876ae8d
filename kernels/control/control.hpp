// Control flow: branches whose paths are stamped, threads that wait for each other, barriers, and
// sleeping.
#pragma once

#include "kernels/placement.hpp"

#include <cstdint>

namespace sonde::kernels {

inline constexpr int branch_paths = 32;
inline constexpr int branch_operations = 16;  // dependent multiply-adds in each path

/// Clock reads of a thread: in front of the branch, at both ends of its path, behind the branch.
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
  std::uint32_t rounds = 2;  // a rehearsal and the measurement; not known to the compiler
};

enum class Branch { switch_cases, else_chain };

Kernel<BranchLaunch> find_branches(Branch branch);

inline constexpr int branch_depth = 5;  // of the deepest nest

/// Branches within each other, `depth` levels of them (0 .. branch_depth): the bits of a thread's
/// path, the highest of `depth` first, say where it goes. Null if there are none so deep.
Kernel<BranchLaunch> find_nested_branches(int depth);

enum class Wait { handshake, spin_release, barrier_against_spin, diverged_barrier };

/// Warps of a block of a waiting program, and the shared memory by which they speak.
inline constexpr unsigned wait_warps = 2;
inline constexpr unsigned wait_shared_bytes = 8;

struct WaitLaunch {
  Placement placement;
  LaneResult* results = nullptr;      // [rank]
  std::uint64_t* cycles = nullptr;    // [rank * 64 + thread]: since the start; 0: gave up
  std::uint64_t limit_cycles = 0;     // of each wait
  std::uint32_t first_of_upper = 16;  // thread with which the second path begins
};

Kernel<WaitLaunch> find_waits(Wait wait);

/// Barriers between two looks at the loop counter.
inline constexpr std::uint32_t barriers_in_row = 16;

/// The result's elapsed cycles are those of `barriers`: a run of twice as many less one of so many.
struct BarrierLaunch {
  Placement placement;
  LaneResult* results = nullptr;  // [rank]
  std::uint32_t barriers = 0;     // a multiple of barriers_in_row
};

/// Of all threads of a block by barrier 0, or by barrier 1 with their number.
extern const Kernel<BarrierLaunch> block_barriers;
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

extern const Kernel<SleepLaunch> sleeps;

}  // namespace sonde::kernels
