// Device side of placement.hpp: a block takes its SM, lanes start together or in turn, and every
// wait ends. All reads here bypass the L1 (cg, relaxed loads, atomics): it holds only measured
// lines.
#pragma once

#include "kernels/timing.cuh"

namespace sonde::kernels {

__device__ __forceinline__ std::uint32_t peek(const std::uint32_t& counter) {
  std::uint32_t value;
  asm volatile("ld.relaxed.gpu.global.u32 %0, [%1];" : "=r"(value) : "l"(&counter) : "memory");
  return value;
}

/// The device-wide timer limits every loop of a kernel.
class Deadline {
 public:
  __device__ explicit Deadline(std::uint64_t limit_ns) : end_ns_(read_globaltimer() + limit_ns) {}
  __device__ bool passed() const { return read_globaltimer() >= end_ns_; }

 private:
  std::uint64_t end_ns_;
};

/// Waits until `counter` is at least `value`. @return false if the deadline passed first
__device__ inline bool wait_for(const std::uint32_t& counter, std::uint32_t value,
                                const Deadline& deadline, unsigned sleep_ns) {
  while (peek(counter) < value) {
    if (deadline.passed()) return false;
    __nanosleep(sleep_ns);
  }
  return true;
}

/// Blocks that found no free SM never start; all others have left well within this time.
inline constexpr std::uint64_t settle_ns = 20000;

/// @return true if this block is the one that holds its SM, and the SM is wanted
__device__ inline bool take_sm(const Placement& placement) {
  PlacementState& state = *placement.state;
  const std::uint32_t sm = read_sm();
  const bool wanted = __ldcg(&placement.rank_of_sm[sm]) >= 0;
  const bool mine = wanted && atomicAdd(&state.claims[sm], 1u) == 0;
  if (mine) atomicAdd(&state.claimed, 1u);
  const bool placed = wait_for(state.claimed, placement.wanted, Deadline(placement.claim_ns), 100);
  if (!mine) {
    atomicAdd(&state.gone, 1u);
    return false;
  }
  wait_for(state.gone, gridDim.x - placement.wanted, Deadline(settle_ns), 100);
  return placed;
}

/// For the whole block: rank of the wanted SM that it holds until its end, or -1 if it must leave.
__device__ inline int hold_wanted_sm(const Placement& placement) {
  const bool held = threadIdx.x == 0 && take_sm(placement);
  if (!__syncthreads_or(held)) return -1;
  return __ldcg(&placement.rank_of_sm[read_sm()]);
}

/// A barrier of the whole block; after it the clock may be read if the result is used first. A
/// clock read after a plain BAR.SYNC happens on arrival, not on release (seen on an H200).
/// @return true
__device__ inline bool pass_barrier() { return __syncthreads_or(1) != 0; }

/// @param sm on which the lane began
__device__ inline LaneStatus lane_status(bool in_time, std::uint32_t sm) {
  if (read_sm() != sm) return LaneStatus::moved;
  return in_time ? LaneStatus::done : LaneStatus::timed_out;
}

/// Waits until all lanes have arrived: they then start within about a microsecond.
/// @param lanes of all launches that count their arrivals in the same counter
__device__ inline bool start_together(const Placement& placement, std::uint32_t lanes,
                                      const Deadline& deadline) {
  atomicAdd(placement.arrived, 1u);
  return wait_for(*placement.arrived, lanes, deadline, 20);
}

/// Waits for a turn. Lanes far behind check rarely, so as not to disturb the measuring lane.
__device__ inline bool wait_for_turn(const PlacementState& state, std::uint32_t turn,
                                     const Deadline& deadline) {
  for (;;) {
    const std::uint32_t now = peek(state.turn);
    if (now >= turn) return true;
    if (deadline.passed()) return false;
    __nanosleep(min((turn - now) * 500u, 100000u));
  }
}

/// Called by the whole block when its work, which began at `begin_cycles`, is done.
__device__ inline void note_span(SmSpan* spans, std::uint64_t begin_cycles) {
  if (!pass_barrier() || threadIdx.x > 0) return;
  const std::uint64_t end_cycles = read_clock();
  SmSpan& span = spans[read_sm()];
  atomicMin(&span.first_cycles, begin_cycles);
  atomicMax(&span.last_cycles, end_cycles);
}

__device__ inline void pass_turn(const Placement& placement) {
  atomicAdd(&placement.state->turn, 1u);
}

}  // namespace sonde::kernels
