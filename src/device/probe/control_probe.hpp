// The probes of control flow: how a warp runs its paths after a branch, what barriers and sleeping
// cost, and how many blocks an SM holds. Part of the seam (probe.hpp lists them).
#pragma once

#include <nlohmann/json_fwd.hpp>

#include <cstddef>
#include <cstdint>
#include <vector>

namespace sonde {

/// How a warp comes to its paths. `switch_cases`: by a switch over the number of the path (Wong
/// 2010, figure 7). `else_chain`: by a chain of `if ... else if ...` whose i-th condition holds for
/// the threads of path i (listing 3). `nested`: by `if ... else` inside each other, `depth` levels
/// deep; each level tests one bit of the number, the highest first: 1 goes to the if-side, 0 to the
/// else-side. It makes one operation before its branch and one where its sides join. In chains and
/// nests the else-side is the target of the branch.
enum class BranchShape { switch_cases, else_chain, nested };

/// Times that each thread of a BranchProbe records by the SM clock.
enum class BranchStamp { before, path_begin, path_end, behind };
inline constexpr std::size_t branch_stamps = 4;
/// The most paths, and the dependent multiply-adds in each path.
inline constexpr int most_branch_paths = 32;
inline constexpr int branch_path_operations = 16;
inline constexpr int most_branch_depth = 5;  // 32 threads can be halved so often

/// `warps` warps of one block per SM. Each thread takes its path of the list, which is the same for
/// each warp. One lane for each SM and warp: clock_cycles has the BranchStamps of each thread of
/// the warp, thread by thread. `behind` is read where the paths have joined in the source.
struct BranchProbe {
  BranchShape shape = BranchShape::switch_cases;
  /// One for each thread of a warp: 0 .. most_branch_paths - 1; nested: 0 .. 2^depth - 1.
  std::vector<int> path_of_thread;
  int warps = 1;
  std::vector<int> sms;
  int depth = 0;  // nested: 0 .. most_branch_depth
};

/// Programs whose threads wait for each other, on one block per SM: of two warps.
///
/// `handshake`: the lower half of a warp signals, then waits for the upper half; the upper half, on
/// another path, waits for that signal first, then signals. Both end only if the paths of a
/// diverged warp make progress by turns. `spin_release`: thread t of a warp waits in a loop until a
/// counter is t; behind the loop it adds 1 to it (Wong 2010, listing 4). `barrier_against_spin`:
/// one warp waits at a barrier before it signals, the other waits for the signal before it arrives
/// at the barrier (listing 6). `diverged_barrier`: both halves of a diverged warp arrive at a
/// barrier of two warps, each at its own place in the code; the other warp arrives once, and again
/// while a thread waits (listing 7).
enum class WaitProgram { handshake, spin_release, barrier_against_spin, diverged_barrier };

/// A thread gives up waiting after `limit_cycles`, so that a deadlock is reported and does not
/// hang. One lane per SM: clock_cycles has for each thread when its wait ended, from the start of
/// the program on; 0 if it gave up. A thread that waits for nothing has the time of its signal.
/// `diverged_barrier`: the first threads of the second warp have the times of its arrivals, one
/// each, and the others 0. Threads of warps that the program does not need have 0.
struct WaitProbe {
  WaitProgram program = WaitProgram::handshake;
  std::uint64_t limit_cycles = 0;
  std::vector<int> sms;
};

/// `block`: barrier 0, for all threads of the block; `clocked`: the same, and a read of the clock
/// after it (Mei and Chu 2016, section 6.1); `named`: another barrier of a block, with a count of
/// threads; `cluster`: all blocks of a thread block cluster; `grid`: one block on each SM of the
/// GPU, by a counter in global memory.
enum class BarrierKind { block, clocked, named, cluster, grid };

/// `barriers` barriers one after the other, by all `warps` warps of each block. One lane per block:
/// elapsed_cycles of all barriers, and as accesses their number.
struct BarrierProbe {
  BarrierKind kind = BarrierKind::block;
  int warps = 1;  // of each block; grid: 1
  int cluster_blocks = 1;
  int barriers = 0;      // a multiple of barrier_group
  std::vector<int> sms;  // not for `cluster` and `grid`
};
inline constexpr int barrier_group = 16;  // that the kernel makes in a row

/// One thread on each SM sleeps `samples` times for about the time that it asks for. One lane per
/// SM, with a timed window for each sleep.
struct SleepProbe {
  std::uint32_t asked_ns = 0;
  int samples = 0;
  std::vector<int> sms;
};

/// Blocks of one shape fill the GPU; each stays until no more begin. One lane per SM: accesses is
/// the number of blocks that it held at once, 0 if not even one fits.
struct OccupancyProbe {
  int registers_per_thread = 0;  // one of Device::register_counts()
  int block_threads = 0;         // at most most_occupancy_threads(registers_per_thread)
  std::uint64_t shared_bytes = 0;
};
/// The most threads of a block. Kernels with more than 64 registers per thread are made for small
/// blocks: 64 registers for 1024 threads are all that an SM has (CUDA programming guide, table 24).
constexpr int most_occupancy_threads(int registers_per_thread) {
  return registers_per_thread > 64 ? 256 : 1024;
}

/// For describe_probe and validate_probe (probe.hpp). The checks throw Error naming the field.
nlohmann::json describe(const BranchProbe& probe);
nlohmann::json describe(const WaitProbe& probe);
nlohmann::json describe(const BarrierProbe& probe);
nlohmann::json describe(const SleepProbe& probe);
nlohmann::json describe(const OccupancyProbe& probe);
void check(const BranchProbe& probe, int sm_count);
void check(const WaitProbe& probe, int sm_count);
void check(const BarrierProbe& probe, int sm_count);
void check(const SleepProbe& probe, int sm_count);
void check(const OccupancyProbe& probe, int sm_count);

}  // namespace sonde
