// Hardware effect: whether the paths of a diverged warp alternate, and whether a barrier counts
// warps or threads (Wong 2010, listings 4 to 7). Waits in loops are limited by the clock, and the
// other warp helps at barriers where threads might wait forever: so a deadlock is reported, but
// does not happen. Sources of error: flags in registers (volatile shared memory), sides of a branch
// that the compiler merges (each path has its own code), an aligned barrier in a path, which may
// become a predicated barrier of the whole warp (barrier.sync is not aligned).
#include "kernels/control/control.hpp"
#include "kernels/placement.cuh"

namespace sonde::kernels {
namespace {

constexpr unsigned warp_size = 32;
/// After this many arrivals of the second warp every barrier has released its threads.
constexpr int most_arrivals = 8;

__device__ __forceinline__ std::uint32_t look(std::uint32_t address) {
  std::uint32_t value;
  asm volatile("ld.volatile.shared.u32 %0, [%1];" : "=r"(value) : "r"(address) : "memory");
  return value;
}

__device__ __forceinline__ void signal(std::uint32_t address, std::uint32_t value) {
  asm volatile("st.volatile.shared.u32 [%0], %1;" ::"r"(address), "r"(value) : "memory");
}

/// Flags in shared memory, for the threads of a block.
struct Words {
  std::uint32_t first;
  std::uint32_t second;
};

/// Time since the program began, at least 1; 0 means that a thread gave up.
struct Stopwatch {
  std::uint64_t begin_cycles;
  std::uint64_t limit_cycles;
  __device__ __forceinline__ std::uint64_t cycles() const { return cycles_since(begin_cycles) + 1; }
  __device__ __forceinline__ bool passed() const {
    return cycles_since(begin_cycles) >= limit_cycles;
  }
};

/// The time when the thread has passed a barrier: a load waits for the barrier, the branch for the
/// load, and the clock read for the branch. A direct clock read could give the time of arrival.
__device__ __forceinline__ std::uint64_t passed_at(std::uint32_t word, const Stopwatch& watch) {
  constexpr std::uint32_t never = 0xffffffff;
  while (look(word) == never) {
  }
  return watch.cycles();
}

/// Spins until the word has this value. @return the time; 0 if the limit passed first
__device__ __forceinline__ std::uint64_t spin(std::uint32_t word, std::uint32_t value,
                                              const Stopwatch& watch) {
  bool in_time;
  while (!(in_time = look(word) == value) && !watch.passed()) {
  }
  return in_time ? watch.cycles() : 0;
}

__device__ std::uint64_t handshake(const WaitLaunch& launch, const Words& words,
                                   const Stopwatch& watch) {
  std::uint64_t cycles = 0;
  if (threadIdx.x < launch.first_of_upper) {
    signal(words.first, 1);
    cycles = spin(words.second, 2, watch);
  } else if (threadIdx.x < warp_size) {
    cycles = spin(words.first, 1, watch);
    signal(words.second, 2);
  }
  return cycles;
}

__device__ std::uint64_t spin_release(const Words& words, const Stopwatch& watch) {
  if (threadIdx.x >= warp_size) return 0;
  std::uint32_t seen;
  while ((seen = look(words.first)) != threadIdx.x && !watch.passed()) {
  }
  signal(words.first, seen + 1);
  return seen == threadIdx.x ? watch.cycles() : 0;
}

__device__ std::uint64_t barrier_against_spin(const Words& words, const Stopwatch& watch) {
  std::uint64_t cycles = 0;
  if (threadIdx.x < warp_size) {
    asm volatile("bar.sync 1, 64;" ::: "memory");
    cycles = passed_at(words.second, watch);
    signal(words.first, 1);
  } else {
    cycles = spin(words.first, 1, watch);
    asm volatile("bar.sync 1, 64;" ::: "memory");
  }
  return cycles;
}

/// The halves count in the first word after they have passed their barrier.
__device__ std::uint64_t diverged_halves(const WaitLaunch& launch, const Words& words,
                                         const Stopwatch& watch) {
  std::uint64_t cycles = 0;
  if (threadIdx.x < launch.first_of_upper) {
    asm volatile("barrier.sync 1, 64;" ::: "memory");
    cycles = passed_at(words.second, watch);
    asm volatile("red.shared.add.u32 [%0], 1;" ::"r"(words.first) : "memory");
  } else {
    asm volatile("barrier.sync 1, 64;" ::: "memory");
    cycles = passed_at(words.second, watch);
    asm volatile("red.shared.add.u32 [%0], 1;" ::"r"(words.first) : "memory");
  }
  return cycles;
}

/// The second warp arrives, waits, checks who has left, and arrives again if some threads have not.
__device__ std::uint64_t arrive_for_halves(const Words& words, const Stopwatch& watch) {
  const unsigned thread = threadIdx.x - warp_size;
  std::uint64_t cycles = 0;
  for (int arrival = 0; arrival < most_arrivals; ++arrival) {
    const std::uint64_t start = read_clock();
    while (cycles_since(start) < watch.limit_cycles / 4) {
    }
    if (__any_sync(0xffffffffu, look(words.first) == warp_size)) break;
    if (thread == static_cast<unsigned>(arrival)) cycles = watch.cycles();
    __syncwarp();
    asm volatile("bar.arrive 1, 64;" ::: "memory");
  }
  return cycles;
}

template <Wait wait>
__global__ void __launch_bounds__(64, 1) wait_kernel(const __grid_constant__ WaitLaunch launch) {
  extern __shared__ std::uint32_t flags[];
  const int rank = hold_wanted_sm(launch.placement);
  if (rank < 0) return;
  const std::uint32_t sm = read_sm();
  if (threadIdx.x < 2) flags[threadIdx.x] = 0;
  const Words words{shared_address(flags), shared_address(flags + 1)};
  if (!pass_barrier()) return;
  const Stopwatch watch{read_clock(), launch.limit_cycles};
  std::uint64_t cycles = 0;
  if constexpr (wait == Wait::handshake) {
    cycles = handshake(launch, words, watch);
  } else if constexpr (wait == Wait::spin_release) {
    cycles = spin_release(words, watch);
  } else if constexpr (wait == Wait::barrier_against_spin) {
    cycles = barrier_against_spin(words, watch);
  } else if (threadIdx.x < warp_size) {
    cycles = diverged_halves(launch, words, watch);
  } else {
    cycles = arrive_for_halves(words, watch);
  }
  launch.cycles[static_cast<std::uint64_t>(rank) * blockDim.x + threadIdx.x] = cycles;
  if (!pass_barrier()) return;
  if (threadIdx.x == 0) {
    launch.results[rank] = {lane_status(true, sm), sm, watch.cycles(), 0};
  }
}

}  // namespace

Kernel<WaitLaunch> find_waits(Wait wait) {
  constexpr Kernel<WaitLaunch> kernels[]{
      wait_kernel<Wait::handshake>, wait_kernel<Wait::spin_release>,
      wait_kernel<Wait::barrier_against_spin>, wait_kernel<Wait::diverged_barrier>};
  return kernels[static_cast<int>(wait)];
}

}  // namespace sonde::kernels
