// The ways to step through memory that the chase kernels are instantiated with. A walk does its
// arithmetic in prepare(), outside of the window; visit() is all that the window holds.
#pragma once

#include "kernels/chase.hpp"
#include "kernels/timing.cuh"

namespace sonde::kernels {

/// Exposes the latency of one load: the address is what the load before returned, nothing else.
template <Load load>
class ChainWalk {
 public:
  __device__ ChainWalk(const ChaseTask& task, std::uint32_t, std::uint32_t)
      : address_(task.start_address) {}
  static __device__ ChainWalk rehearsal(const ChaseLaunch& launch, std::uint32_t) {
    return ChainWalk({launch.rehearsal_address}, 0, 0);
  }
  __device__ __forceinline__ void prepare() {}
  __device__ __forceinline__ void step() { address_ = load_global<load>(address_); }
  /// The store waits for the load and so holds back the clock read behind it.
  __device__ __forceinline__ void visit(std::uint32_t sink) {
    step();
    settle(sink);
  }
  __device__ __forceinline__ void settle(std::uint32_t sink) {
    store_shared_u32(sink, static_cast<std::uint32_t>(address_));
  }
  __device__ std::uint64_t final_value() const { return address_; }

 private:
  std::uint64_t address_;
};

/// For lists that visit a sector more often than it has words. The loaded value is zero, but only
/// the memory knows: adding it keeps the chain dependent.
template <Load load>
class ScriptWalk {
 public:
  __device__ ScriptWalk(const ChaseTask& task, std::uint32_t script, std::uint32_t unit_bytes)
      : base_(task.start_address),
        script_(script),
        end_(script + task.script_length * 4),
        at_(script),
        unit_bytes_(unit_bytes) {}
  /// With a unit of 0 bytes every step goes to the base.
  static __device__ ScriptWalk rehearsal(const ChaseLaunch& launch, std::uint32_t script) {
    ChaseTask task;
    task.start_address = launch.rehearsal_address;
    task.script_length = 1;
    return ScriptWalk(task, script, 0);
  }
  __device__ __forceinline__ void prepare() {
    const std::uint32_t step = load_shared_u32(at_);
    at_ = at_ + 4 == end_ ? script_ : at_ + 4;
    asm volatile("mad.wide.u32 %0, %1, %2, %3;"
                 : "=l"(address_)
                 : "r"(step), "r"(unit_bytes_), "l"(base_ + value_));
  }
  __device__ __forceinline__ void step() { value_ = load_global<load>(address_); }
  __device__ __forceinline__ void visit(std::uint32_t sink) {
    step();
    settle(sink);
  }
  __device__ __forceinline__ void settle(std::uint32_t sink) {
    store_shared_u32(sink, static_cast<std::uint32_t>(value_));
  }
  __device__ std::uint64_t final_value() const { return value_; }

 private:
  std::uint64_t base_;
  std::uint64_t address_ = 0;
  std::uint64_t value_ = 0;
  std::uint32_t script_;
  std::uint32_t end_;
  std::uint32_t at_;
  std::uint32_t unit_bytes_;
};

/// No load: what the clock reads cost, alone or with the sink's store.
template <Overhead overhead>
class NoWalk {
 public:
  __device__ NoWalk(const ChaseTask&, std::uint32_t, std::uint32_t) {}
  static __device__ NoWalk rehearsal(const ChaseLaunch&, std::uint32_t) { return NoWalk({}, 0, 0); }
  __device__ __forceinline__ void prepare() {}
  __device__ __forceinline__ void step() {}
  __device__ __forceinline__ void visit(std::uint32_t sink) {
    if constexpr (overhead == Overhead::sink) store_shared_u32(sink, sink);
  }
  __device__ __forceinline__ void settle(std::uint32_t) {}
  __device__ std::uint64_t final_value() const { return 0; }
};

}  // namespace sonde::kernels
