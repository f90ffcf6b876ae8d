// Clock reads, and the loads and stores of timed windows. All are volatile assembly with memory
// clobbers: the order in the source is the order in machine code, which tests/sass checks.
#pragma once

#include "kernels/placement.hpp"

#include <cstdint>

namespace sonde::kernels {

/// SM clock. cycles_between uses all 64 bits: else ptxas reads the low half by S2UR, which takes
/// about 30 cycles inside the timed window on sm_75 and sm_80.
__device__ __forceinline__ std::uint64_t read_clock() {
  std::uint64_t cycles;
  asm volatile("mov.u64 %0, %%clock64;" : "=l"(cycles)::"memory");
  return cycles;
}

__device__ __forceinline__ std::uint64_t read_globaltimer() {
  std::uint64_t ns;
  asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(ns)::"memory");
  return ns;
}

__device__ __forceinline__ std::uint32_t read_sm() {
  std::uint32_t sm;
  asm volatile("mov.u32 %0, %%smid;" : "=r"(sm));
  return sm;
}

/// 1, but unknown to the compiler (blocks have one dimension). A timed loop that counts in this
/// step is not unrolled. ptxas for sm_80 unrolls other loops in spite of the pragma, and then
/// windows of one loop differ by 1 or 2 cycles.
__device__ __forceinline__ unsigned unknown_one() { return 1 + threadIdx.y; }

/// end - begin of two clock reads. For sm_120 ptxas may read the clock into uniform registers by
/// another instruction (CS2UR), so that both ends of a window differ. A value that was selected by
/// a predicate of the thread stays in vector registers.
__device__ __forceinline__ std::uint64_t elapsed(std::uint64_t begin, std::uint64_t end) {
#if __CUDA_ARCH__ >= 1200
  asm volatile(
      "{ .reg .pred p; setp.ne.u32 p, %2, 0; selp.b64 %0, %0, 0, p; selp.b64 %1, %1, 0, p; }"
      : "+l"(begin), "+l"(end)
      : "r"(unknown_one()));
#endif
  return end - begin;
}

__device__ __forceinline__ std::uint64_t cycles_since(std::uint64_t begin) {
  return elapsed(begin, read_clock());
}

/// Length of a timed window as it is recorded; 65535: that or more.
__device__ __forceinline__ std::uint32_t cycles_between(std::uint64_t begin, std::uint64_t end) {
  const std::uint64_t cycles = elapsed(begin, end);
  return static_cast<std::uint32_t>(cycles < 65535u ? cycles : 65535u);
}

/// Plain ld.global is ca without the ordering of an explicit .ca (LDG.E.64.STRONG.SM); both use the
/// L1.
template <Load load>
__device__ __forceinline__ std::uint64_t load_global(std::uint64_t address) {
  std::uint64_t value;
  if constexpr (load == Load::ca) {
    asm volatile("ld.global.u64 %0, [%1];" : "=l"(value) : "l"(address) : "memory");
  } else if constexpr (load == Load::cg) {
    asm volatile("ld.global.cg.u64 %0, [%1];" : "=l"(value) : "l"(address) : "memory");
  } else if constexpr (load == Load::nc) {
    asm volatile("ld.global.nc.u64 %0, [%1];" : "=l"(value) : "l"(address) : "memory");
  } else {
    asm volatile("ld.global.cv.u64 %0, [%1];" : "=l"(value) : "l"(address) : "memory");
  }
  return value;
}

__device__ __forceinline__ void store_global(std::uint64_t address, std::uint64_t value) {
  asm volatile("st.global.u64 [%0], %1;" ::"l"(address), "l"(value) : "memory");
}

__device__ __forceinline__ std::uint32_t shared_address(const void* pointer) {
  return static_cast<std::uint32_t>(__cvta_generic_to_shared(pointer));
}

__device__ __forceinline__ void store_shared_u32(std::uint32_t address, std::uint32_t value) {
  asm volatile("st.shared.u32 [%0], %1;" ::"r"(address), "r"(value) : "memory");
}

__device__ __forceinline__ void store_shared_u64(std::uint32_t address, std::uint64_t value) {
  asm volatile("st.shared.u64 [%0], %1;" ::"r"(address), "l"(value) : "memory");
}

__device__ __forceinline__ void store_shared_u16(std::uint32_t address, std::uint32_t value) {
  asm volatile("st.shared.u16 [%0], %1;" ::"r"(address), "h"(static_cast<std::uint16_t>(value))
               : "memory");
}

__device__ __forceinline__ std::uint32_t load_shared_u32(std::uint32_t address) {
  std::uint32_t value;
  asm volatile("ld.shared.u32 %0, [%1];" : "=r"(value) : "r"(address) : "memory");
  return value;
}

__device__ __forceinline__ std::uint64_t load_shared_u64(std::uint32_t address) {
  std::uint64_t value;
  asm volatile("ld.shared.u64 %0, [%1];" : "=l"(value) : "r"(address) : "memory");
  return value;
}

}  // namespace sonde::kernels
