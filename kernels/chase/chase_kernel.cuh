// The chase kernels: templates over the steps of a chase (chase_steps.cuh). Hardware effect: the
// time from the issue of a load to the arrival of its value. Sources of error: instruction misses
// (a rehearsal runs the timed loop on another place, then a fence empties the L1), other blocks on
// the SM (one block per SM and launch stays), moved clock reads (volatile assembly, checked in
// SASS), L1 lines of the kernel's own tables (read past the L1).
#pragma once

#include "kernels/chase/chase.hpp"
#include "kernels/chase/chase_steps.cuh"
#include "kernels/placement.cuh"

namespace sonde::kernels {

/// Like find_chase; each space other than global memory has its own file.
Kernel<ChaseLaunch> constant_kernel(Order order, Part part);
Kernel<ChaseLaunch> texture_1d_kernel(Order order, Part part);
Kernel<ChaseLaunch> texture_2d_kernel(Order order, Part part);

enum class Keep { record, histogram, both };

/// Accesses between two checks of the deadline: at most a few milliseconds.
inline constexpr std::uint64_t chunk_accesses = 1024;
/// Enough iterations to bring the code of the timed loop into all instruction caches.
inline constexpr std::uint64_t rehearsal_accesses = 4;

struct LaneMemory {
  std::uint32_t sink;
  std::uint32_t histogram;
  std::uint32_t record;
  std::uint32_t script;
};

__device__ inline LaneMemory lane_memory(const ChaseLaunch& launch, std::uint32_t base,
                                         std::uint32_t warp) {
  const std::uint32_t histogram_bytes = launch.histograms ? chase_bins * 4 : 0;
  const std::uint32_t record_bytes = (static_cast<std::uint32_t>(launch.recorded) * 2 + 3) & ~3u;
  const std::uint32_t warp_bytes = histogram_bytes + record_bytes + launch.script_capacity * 4;
  const std::uint32_t histogram = base + sink_bytes + warp * warp_bytes;
  return {base + warp * 4, histogram, histogram + histogram_bytes,
          histogram + histogram_bytes + record_bytes};
}

/// Counts in a bin of the histogram. The store must read its operands before the next window
/// begins. Since sm_100 ptxas lets the timed load wait for that (elsewhere the clock read waits),
/// unless an operand changes before, as the address of a record does. Here the address of the bin
/// changes, in a way that ptxas cannot undo.
template <Keep keep>
__device__ __forceinline__ void count_in_bin(std::uint32_t& histogram, std::uint32_t offset) {
  const std::uint32_t bin = histogram + offset;
  store_shared_u32(bin, load_shared_u32(bin) + 1);
#if __CUDA_ARCH__ >= 1000
  if constexpr (keep == Keep::histogram) histogram = bin - offset * unknown_one();
#endif
}

template <Keep keep>
__device__ __forceinline__ void keep_cycles(std::uint32_t cycles, std::uint32_t& histogram,
                                            std::uint32_t& record) {
  if constexpr (keep != Keep::histogram) {
    store_shared_u16(record, cycles);
    record += 2;
  }
  if constexpr (keep != Keep::record) {
    count_in_bin<keep>(histogram, min(cycles, chase_bins - 1) * 4);
  }
}

/// @return false if the deadline passed
template <Keep keep, class Chase>
__device__ bool timed_accesses(Chase& chase, std::uint64_t count, const LaneMemory& memory,
                               const Deadline& deadline) {
  std::uint32_t record = memory.record;
  std::uint32_t histogram = memory.histogram;
  const unsigned one = unknown_one();
  for (std::uint64_t done = 0; done < count; done += chunk_accesses) {
    const auto chunk = static_cast<unsigned>(min(count - done, chunk_accesses));
#pragma unroll 1
    for (unsigned i = 0; i < chunk; i += one) {
      chase.prepare();
      chase.make_ready();
      const std::uint64_t begin = read_clock();
      chase.access(memory.sink);
      const std::uint64_t end = read_clock();
      keep_cycles<keep>(cycles_between(begin, end), histogram, record);
    }
    if (deadline.passed()) return done + chunk == count;
  }
  return true;
}

template <int unroll, class Chase>
__device__ __forceinline__ bool untimed_accesses(Chase& chase, std::uint64_t count,
                                                 const Deadline& deadline) {
  constexpr std::uint64_t chunk = 65536;
  for (; count >= chunk; count -= chunk) {
#pragma unroll unroll
    for (unsigned i = 0; i < chunk; ++i) {
      chase.prepare();
      chase.step();
    }
    if (deadline.passed()) return false;
  }
#pragma unroll unroll
  for (unsigned i = 0; i < static_cast<unsigned>(count); ++i) {
    chase.prepare();
    chase.step();
  }
  return true;
}

/// Records the first accesses; counts the rest only in the histogram.
template <class Chase>
__device__ __forceinline__ bool all_timed_accesses(const ChaseLaunch& launch, Chase& chase,
                                                   const LaneMemory& memory,
                                                   const Deadline& deadline, std::uint64_t recorded,
                                                   std::uint64_t counted) {
  if (!launch.histograms) return timed_accesses<Keep::record>(chase, recorded, memory, deadline);
  return timed_accesses<Keep::both>(chase, recorded, memory, deadline) &&
         timed_accesses<Keep::histogram>(chase, counted, memory, deadline);
}

__device__ inline bool start_lane(const ChaseLaunch& launch, const ChaseTask& task,
                                  const Deadline& deadline) {
  return launch.in_turn ? wait_for_turn(*launch.placement.state, task.turn, deadline)
                        : start_together(launch.placement, launch.lanes, deadline);
}

/// After this time a store has left the SM and arrived; about ten times the latency of memory.
inline constexpr std::uint64_t store_cycles = 8192;

/// Does not wait for the stores by a fence, which would empty the L1 (CCTL.IVALL).
__device__ inline void store_words(const ChaseTask& task) {
  if (task.store_count == 0) return;
  const auto* words = reinterpret_cast<const unsigned long long*>(task.stores);
#pragma unroll 1
  for (std::uint32_t i = 0; i < task.store_count; ++i) {
    const unsigned long long address = __ldcg(words + 2 * i);
    store_global(address, __ldcg(words + 2 * i + 1));
  }
  const std::uint64_t begin = read_clock();
  while (cycles_since(begin) < store_cycles) {
  }
}

/// A script of one step of 0 units.
__device__ inline ChaseTask rehearsal_task(const ChaseLaunch& launch) {
  ChaseTask task;
  task.start = launch.rehearsal_place;
  task.script_length = 1;
  return task;
}

__device__ inline void clear_histogram(const ChaseLaunch& launch, const LaneMemory& memory) {
  if (!launch.histograms) return;
  for (std::uint32_t bin = 0; bin < chase_bins; ++bin) {
    store_shared_u32(memory.histogram + bin * 4, 0);
  }
}

/// Runs the same code twice. The first time it only reads a place that is in no list, to bring the
/// code into the instruction caches; the fence then drops this place from the L1 (CCTL.IVALL).
template <class Chase>
__device__ void run_timed_lane(const ChaseLaunch& launch, const ChaseTask& task,
                               const typename Chase::Source& source, const LaneMemory& memory,
                               LaneResult& result) {
  const Deadline deadline(launch.placement.limit_ns);
  const std::uint32_t sm = read_sm();
  for (std::uint32_t round = 0; round < launch.rounds; ++round) {
    const bool rehearsal = round == 0;
    Chase chase = rehearsal ? Chase(source, rehearsal_task(launch), memory.script, 0)
                            : Chase(source, task, memory.script, launch.script_unit);
    const std::uint64_t recorded =
        rehearsal ? min(launch.recorded, rehearsal_accesses) : launch.recorded;
    const std::uint64_t counted = rehearsal ? rehearsal_accesses : launch.timed - launch.recorded;
    bool in_time = rehearsal || (start_lane(launch, task, deadline) &&
                                 untimed_accesses<8>(chase, launch.warmup, deadline));
    chase.settle(memory.sink);
    if (!rehearsal) store_words(task);
    const std::uint64_t begin = read_clock();
    in_time = in_time && all_timed_accesses(launch, chase, memory, deadline, recorded, counted);
    const std::uint64_t end = read_clock();
    if (rehearsal) {
      clear_histogram(launch, memory);
      __threadfence();
    } else {
      result = {lane_status(in_time, sm), sm, end - begin, chase.final_value()};
    }
  }
  if (launch.in_turn) pass_turn(launch.placement);
}

template <class Chase>
__device__ void run_amortised_lane(const ChaseLaunch& launch, const ChaseTask& task,
                                   const typename Chase::Source& source, const LaneMemory& memory,
                                   LaneResult& result) {
  const Deadline deadline(launch.placement.limit_ns);
  const std::uint32_t sm = read_sm();
  Chase chase(source, task, memory.script, launch.script_unit);
  bool in_time =
      start_lane(launch, task, deadline) && untimed_accesses<8>(chase, launch.warmup, deadline);
  chase.settle(memory.sink);
  store_words(task);
  const std::uint64_t begin = read_clock();
  in_time = in_time && untimed_accesses<64>(chase, launch.amortised, deadline);
  chase.settle(memory.sink);
  const std::uint64_t end = read_clock();
  result = {lane_status(in_time, sm), sm, end - begin, chase.final_value()};
  if (launch.in_turn) pass_turn(launch.placement);
}

__device__ inline void load_script(const ChaseTask& task, std::uint32_t script) {
  for (std::uint32_t i = threadIdx.x % 32; i < task.script_length; i += 32) {
    store_shared_u32(script + i * 4, __ldcg(task.script + i));
  }
}

__device__ inline ChaseTask load_task(const ChaseTask* from) {
  static_assert(sizeof(ChaseTask) % 8 == 0);
  ChaseTask task;
  for (unsigned i = 0; i < sizeof(ChaseTask) / 8; ++i) {
    reinterpret_cast<unsigned long long*>(&task)[i] =
        __ldcg(reinterpret_cast<const unsigned long long*>(from) + i);
  }
  return task;
}

__device__ inline void write_out(const ChaseLaunch& launch, const LaneMemory& memory,
                                 const std::uint16_t* record, int lane) {
  const std::uint32_t thread = threadIdx.x % 32;
  for (std::uint64_t i = thread; i < launch.recorded; i += 32) {
    launch.records[static_cast<std::uint64_t>(lane) * launch.recorded + i] = record[i];
  }
  if (!launch.histograms) return;
  for (std::uint32_t bin = thread; bin < chase_bins; bin += 32) {
    launch.histograms[static_cast<std::uint64_t>(lane) * chase_bins + bin] =
        load_shared_u32(memory.histogram + bin * 4);
  }
}

/// Warp `w` of the block on a wanted SM is the w-th lane of this SM; one of its threads measures.
template <class Chase, bool timed>
__global__ void __launch_bounds__(max_lanes_per_sm * 32, 1)
    chase_kernel(const __grid_constant__ ChaseLaunch launch) {
  extern __shared__ __align__(16) unsigned char shared[];
  const int rank = hold_wanted_sm(launch.placement);
  if (rank < 0) return;
  const std::uint32_t warp = threadIdx.x / 32;
  const int lane = __ldcg(&launch.lane_of_warp[rank * launch.warps + warp]);
  if (lane < 0) return;
  const std::uint32_t base = shared_address(shared);
  const LaneMemory memory = lane_memory(launch, base, warp);
  const ChaseTask task = load_task(&launch.tasks[lane]);
  load_script(task, memory.script);
  const typename Chase::Source source(launch);
  __syncwarp();
  if (threadIdx.x % 32 == 0) {
    if constexpr (timed) {
      run_timed_lane<Chase>(launch, task, source, memory, launch.results[lane]);
    } else {
      run_amortised_lane<Chase>(launch, task, source, memory, launch.results[lane]);
    }
  }
  __syncwarp();
  const void* record = shared + (memory.record - base);
  write_out(launch, memory, static_cast<const std::uint16_t*>(record), lane);
}

/// One warp on the wanted SM; each thread runs its share.
template <class Chase>
__global__ void __launch_bounds__(32, 1)
    warm_up_kernel(const __grid_constant__ ChaseLaunch launch) {
  if (hold_wanted_sm(launch.placement) < 0) return;
  const Deadline deadline(launch.placement.limit_ns);
  const std::uint32_t sm = read_sm();
  const auto* share = reinterpret_cast<const unsigned long long*>(launch.shares + threadIdx.x);
  ChaseTask task;
  task.start = __ldcg(share);
  const typename Chase::Source source(launch);
  Chase chase(source, task, 0, 0);
  const bool in_time = untimed_accesses<8>(chase, __ldcg(share + 1), deadline);
  launch.results[threadIdx.x] = {lane_status(in_time, sm), sm, 0, chase.final_value()};
}

/// Like find_chase, for a source.
template <class Source>
Kernel<ChaseLaunch> chase_kernel_of(Order order, Part part) {
  const bool chain = order == Order::chain;
  switch (part) {
    case Part::shared_warm_up: return chain ? warm_up_kernel<ChainChase<Source>> : nullptr;
    case Part::amortised: return chain ? chase_kernel<ChainChase<Source>, false> : nullptr;
    case Part::windows: break;
  }
  return chain ? chase_kernel<ChainChase<Source>, true> : chase_kernel<ScriptChase<Source>, true>;
}

}  // namespace sonde::kernels
