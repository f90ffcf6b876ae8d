// The kernels of programs: templates over the loads of a pass. Hardware effect: warps of an SM
// compete for lines and miss resources of the L1, other warps bypass it. Sources of error: loads
// that wait for each other (a row of loads is code without jumps, checked in SASS), values that
// nobody waits for (the next addresses depend on them), other blocks on the SM (one block per SM
// stays), L1 lines of the kernel's own tables (none: accesses are read from the constant bank).
#pragma once

#include "kernels/placement.cuh"
#include "kernels/program/program_loads.cuh"
#include "kernels/select.cuh"

#include <type_traits>

namespace sonde::kernels {

/// The kernel for this number of loads in a pass, or for timed loads; null if the file has none.
Kernel<ProgramLaunch> short_program_kernel(int loads);
Kernel<ProgramLaunch> long_program_kernel(int loads);
Kernel<ProgramLaunch> timed_program_kernel();

/// Shared memory of a warp besides its records: a sink, and values that are only needed at the end.
inline constexpr std::uint32_t program_slot_bytes = 24;
inline constexpr std::uint32_t program_sm_offset_bytes = 8;
inline constexpr std::uint32_t program_begin_offset_bytes = 16;
inline constexpr std::uint32_t program_record_offset_bytes = 32 * program_slot_bytes;
/// Accesses of a warp between two checks of the deadline, about; a power of two.
inline constexpr std::uint32_t program_chunk_accesses = 4096;
inline constexpr int timed_loads = 0;  // as a template argument

template <int loads, L1Use use>
using ProgramLoads =
    std::conditional_t<loads == timed_loads, TimedLoads<use>, RowOfLoads<loads, use>>;

__device__ __forceinline__ std::uint32_t passes_of(const ProgramPasses& passes,
                                                   std::uint32_t block_x, std::uint32_t warp) {
  const int count = passes.first + passes.per_block * static_cast<int>(block_x) +
                    passes.per_warp * static_cast<int>(warp);
  return static_cast<std::uint32_t>(max(count, 0));
}

__device__ inline ProgramWarp find_warp(const ProgramLaunch& launch, std::uint32_t block,
                                        std::uint32_t warp, std::uint32_t sink) {
  const std::uint32_t block_x = block - quotient(block, launch.grid_x) * launch.grid_x.value;
  const std::uint32_t inners = passes_of(launch.inner, block_x, warp);
  __syncwarp();
  store_shared_u32(sink + program_number_offset_bytes, (block * launch.block_warps + warp) * 32);
  __syncwarp();
  return {.outers = inners > 0 ? passes_of(launch.outer, block_x, warp) : 0, .inners = inners};
}

__device__ __forceinline__ std::uint32_t made_accesses(const ProgramLaunch& launch,
                                                       std::uint32_t inner, std::uint32_t inners) {
  return launch.in_every | (inner == 0 ? launch.in_first : 0) |
         (inner + 1 == inners ? launch.in_last : 0);
}

/// All passes of a warp of the program. @return false if the warp made enough accesses, or the
/// deadline passed
template <class Loads>
__device__ bool play_warp(const ProgramLaunch& launch, const ProgramWarp& warp,
                          ProgramProgress& progress, const Deadline& deadline) {
  Loads loads(launch, progress);
#pragma unroll 1
  for (std::uint32_t outer = 0; outer < warp.outers; ++outer) {
#pragma unroll 1
    for (std::uint32_t inner = 0; inner < warp.inners; ++inner) {
      if (progress.accesses >= launch.warp_accesses) return false;
      const ProgramPass pass{outer, inner, made_accesses(launch, inner, warp.inners)};
      loads.play(launch, pass, progress);
      make_stores(launch, pass, progress);
      const std::uint32_t before = progress.accesses;
      progress.accesses += __popc(pass.made);
      const bool new_chunk = (progress.accesses ^ before) >= program_chunk_accesses;
      if (new_chunk && deadline.passed()) return false;
    }
    loads.begin_next_outer(launch);
  }
  return true;
}

template <int loads>
__device__ bool play_warp(const ProgramLaunch& launch, bool cached, const ProgramWarp& warp,
                          ProgramProgress& progress, const Deadline& deadline) {
  switch (cached ? L1Use::plain : launch.bypass) {
    case L1Use::plain:
      return play_warp<ProgramLoads<loads, L1Use::plain>>(launch, warp, progress, deadline);
    case L1Use::past:
      return play_warp<ProgramLoads<loads, L1Use::past>>(launch, warp, progress, deadline);
    case L1Use::no_allocate:
      return play_warp<ProgramLoads<loads, L1Use::no_allocate>>(launch, warp, progress, deadline);
    case L1Use::evict_first:
      return play_warp<ProgramLoads<loads, L1Use::evict_first>>(launch, warp, progress, deadline);
  }
  return false;
}

/// Plays the warps of the program that belong to warp `slot` of this block, one after the other.
template <int loads>
__device__ void play_slot(const ProgramLaunch& launch, std::uint32_t rank, std::uint32_t slot,
                          ProgramProgress& progress, const Deadline& deadline) {
  const std::uint32_t sms = launch.placement.wanted;
  const std::uint32_t first_block = rank % launch.blocks;
  const std::uint32_t sm_warps = ((launch.blocks - 1 - first_block) / sms + 1) * launch.block_warps;
  const bool cached_block = slot / launch.block_warps < launch.cached_blocks;
  // A warp without passes is skipped, unless the SM has no others for this slot.
  std::uint32_t idle = 0;
  for (std::uint32_t at = slot % sm_warps; idle < sm_warps; at = (at + launch.warps) % sm_warps) {
    const std::uint32_t warp = at % launch.block_warps;
    const std::uint32_t block = first_block + at / launch.block_warps * sms;
    const ProgramWarp passes = find_warp(launch, block, warp, progress.sink);
    idle = passes.outers == 0 ? idle + 1 : 0;
    const bool cached = cached_block || warp < launch.cached_warps;
    if (!play_warp<loads>(launch, cached, passes, progress, deadline)) return;
  }
}

/// Writes the results of the warp at its end.
__device__ inline void write_lane(const ProgramLaunch& launch, const ProgramProgress& progress,
                                  LaneResult result) {
  const std::uint32_t warp = threadIdx.x / 32;
  const std::uint32_t thread = threadIdx.x % 32;
  const auto rank = static_cast<std::uint32_t>(__ldcg(&launch.placement.rank_of_sm[result.sm]));
  const std::uint64_t lane = std::uint64_t{rank} * launch.warps + warp;
  const std::uint32_t record = progress.record - progress.windows * 2;
  __syncwarp();
  for (std::uint32_t i = thread; i < progress.windows; i += 32) {
    launch.records[lane * launch.recorded + i] = load_shared_u16(record + i * 2);
  }
  std::uint32_t sum = progress.elements + progress.zero;
  for (unsigned distance = 16; distance > 0; distance /= 2) {
    sum += __shfl_xor_sync(~0u, sum, distance);
  }
  if (thread != 0) return;
  result.final_value = sum;
  launch.results[lane] = result;
  launch.counts[lane] = {progress.accesses, progress.windows, progress.issue_cycles};
}

template <int loads>
__global__ void __launch_bounds__(1024, 1)
    program_kernel(const __grid_constant__ ProgramLaunch launch) {
  extern __shared__ __align__(16) unsigned char shared[];
  const int rank = hold_wanted_sm(launch.placement);
  if (rank < 0) return;
  const Deadline deadline(launch.placement.limit_ns);
  const std::uint32_t warp = threadIdx.x / 32;
  ProgramProgress progress;
  progress.sink = shared_address(shared) + warp * program_slot_bytes;
  progress.record =
      shared_address(shared) + program_record_offset_bytes + warp * launch.recorded * 2;
  if (threadIdx.x == 0) start_together(launch.placement, launch.placement.wanted, deadline);
  store_shared_u32(progress.sink + program_sm_offset_bytes, read_sm());
  if (!pass_barrier()) return;
  store_shared_u64(progress.sink + program_begin_offset_bytes, read_clock());
  play_slot<loads>(launch, static_cast<std::uint32_t>(rank), warp, progress, deadline);
  store_shared_u32(progress.sink, progress.zero);
  const std::uint64_t end = read_clock();
  const std::uint64_t begin = load_shared_u64(progress.sink + program_begin_offset_bytes);
  const std::uint32_t sm = load_shared_u32(progress.sink + program_sm_offset_bytes);
  write_lane(launch, progress, {lane_status(!deadline.passed(), sm), sm, end - begin, 0});
}

}  // namespace sonde::kernels
