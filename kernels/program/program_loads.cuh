// Device side of a program's pass: its elements, loads (in a row, or timed one by one) and stores.
#pragma once

#include "kernels/program/program.hpp"
#include "kernels/timing.cuh"

namespace sonde::kernels {

/// Passes of a warp of the program.
struct ProgramWarp {
  std::uint32_t outers;
  std::uint32_t inners;
};

struct ProgramPass {
  std::uint32_t outer;
  std::uint32_t inner;
  std::uint32_t made;  // mask of its accesses
};

/// State of a thread.
struct ProgramProgress {
  std::uint32_t accesses = 0;
  std::uint32_t elements = 0;  // sum
  std::uint32_t zero = 0;      // sum of the last loaded values: the next addresses depend on it
  std::uint32_t windows = 0;
  std::uint64_t issue_cycles = 0;
  std::uint32_t sink = 0;    // shared memory
  std::uint32_t record = 0;  // shared memory
};

__device__ __forceinline__ std::uint16_t load_shared_u16(std::uint32_t address) {
  std::uint16_t value;
  asm volatile("ld.shared.u16 %0, [%1];" : "=h"(value) : "r"(address) : "memory");
  return value;
}

/// A 32-bit hash whose output bits all depend on every input bit ("lowbias32", C. Wellons).
__device__ __forceinline__ std::uint32_t mix_bits(std::uint32_t x) {
  x ^= x >> 16;
  x *= 0x7feb352du;
  x ^= x >> 15;
  x *= 0x846ca68bu;
  return x ^ x >> 16;
}

/// Offset of the number of the warp's first thread in the kernel, after its sink. All programs
/// would hold a register for it (each of 1024 threads has 64), but only random accesses and stores
/// need it. Volatile, so that derived values are not held either.
inline constexpr std::uint32_t program_number_offset_bytes = 4;

__device__ __forceinline__ std::uint32_t thread_number(const ProgramProgress& progress) {
  std::uint32_t first;
  asm volatile("ld.volatile.shared.u32 %0, [%1];"
               : "=r"(first)
               : "r"(progress.sink + program_number_offset_bytes)
               : "memory");
  return first + threadIdx.x % 32;
}

/// Exact for numbers below 2^30, for which the product is too small by less than 1.
__device__ __forceinline__ std::uint32_t quotient(std::uint32_t number, const Divisor& divisor) {
  const std::uint32_t least = __umulhi(number, divisor.inverse);
  return number - least * divisor.value >= divisor.value ? least + 1 : least;
}

/// The random part of an element: the same number that the host draws for this thread and pass
/// (program_draw in src/device/probe/program_plan.cpp).
__device__ __forceinline__ std::uint32_t drawn_part(const ProgramAccess& access,
                                                    const ProgramProgress& progress,
                                                    const ProgramPass& pass) {
  constexpr std::uint32_t golden =
      0x9e3779b9u;  // 2^32 / golden ratio: neighbours get distant values
  if (access.drawn_elements == 0) return 0;
  const std::uint32_t group =
      mix_bits(access.draw_hash ^ quotient(thread_number(progress), access.drawn_threads));
  const std::uint32_t drawn = mix_bits(group + pass.outer * golden + mix_bits(pass.inner));
  return access.drawn_step * __umulhi(drawn, access.drawn_elements);
}

/// The element of the first pass, without its random part.
__device__ __forceinline__ std::uint32_t first_element(const ProgramLaunch& launch,
                                                       const ProgramAccess& access,
                                                       std::uint32_t thread) {
  const std::uint32_t block = quotient(thread, launch.block_threads);
  const std::uint32_t thread_of_block = thread - block * launch.block_threads.value;
  const std::uint32_t block_y = quotient(block, launch.grid_x);
  const std::uint32_t thread_y = quotient(thread_of_block, launch.block_x);
  return access.first + access.per_block_x * (block - block_y * launch.grid_x.value) +
         access.per_block_y * block_y +
         access.per_thread_x * (thread_of_block - thread_y * launch.block_x.value) +
         access.per_thread_y * thread_y;
}

__device__ __forceinline__ std::uint32_t element_of(const ProgramLaunch& launch,
                                                    const ProgramAccess& access,
                                                    const ProgramProgress& progress,
                                                    const ProgramPass& pass) {
  return first_element(launch, access, thread_number(progress)) + access.per_outer * pass.outer +
         access.per_inner * pass.inner + drawn_part(access, progress, pass);
}

#define SONDE_LOAD_BY_USE(load)                     \
  if constexpr (use == L1Use::plain) {              \
    load("");                                       \
  } else if constexpr (use == L1Use::past) {        \
    load(".cg");                                    \
  } else if constexpr (use == L1Use::no_allocate) { \
    load(".L1::no_allocate");                       \
  } else {                                          \
    load(".L1::evict_first");                       \
  }
#define SONDE_LOAD_IF_MADE(flavour)                                                  \
  asm volatile("{ .reg .pred made; setp.ne.u32 made, %2, 0; @made ld.global" flavour \
               ".u32 %0, [%1]; }"                                                    \
               : "+r"(value)                                                         \
               : "l"(address), "r"(made)                                             \
               : "memory")
#define SONDE_LOAD_WORD(flavour) \
  asm volatile("ld.global" flavour ".u32 %0, [%1];" : "=r"(value) : "l"(address) : "memory")

/// Keeps the value if the load is not made; by a predicate, so that loads in a row need no jump.
template <L1Use use>
__device__ __forceinline__ void load_if(std::uint32_t made, std::uint64_t address,
                                        std::uint32_t& value) {
  SONDE_LOAD_BY_USE(SONDE_LOAD_IF_MADE)
}

template <L1Use use>
__device__ __forceinline__ std::uint32_t load_word(std::uint64_t address) {
  std::uint32_t value;
  SONDE_LOAD_BY_USE(SONDE_LOAD_WORD)
  return value;
}
#undef SONDE_LOAD_BY_USE
#undef SONDE_LOAD_IF_MADE
#undef SONDE_LOAD_WORD

/// The loads of a pass up to the next load that waits.
__device__ __forceinline__ std::uint32_t next_group(std::uint32_t loads, std::uint32_t waits) {
  const std::uint32_t first = loads & -loads;
  const std::uint32_t waiting = loads & waits & ~first;
  return loads & ((waiting & -waiting) - 1);  // all loads if none waits
}

/// Loads in a row do not wait for each other; the next addresses, made of their sum, wait for all.
template <int loads, L1Use use>
class RowOfLoads {
 public:
  __device__ __forceinline__ RowOfLoads(const ProgramLaunch& launch,
                                        const ProgramProgress& progress) {
    const std::uint32_t thread = thread_number(progress);
#pragma unroll
    for (int i = 0; i < loads; ++i) {
      bases_[i] = first_element(launch, launch.body[i], thread);
      values_[i] = 0;
    }
  }

  __device__ __forceinline__ void begin_next_outer(const ProgramLaunch& launch) {
#pragma unroll
    for (int i = 0; i < loads; ++i) bases_[i] += launch.body[i].per_outer;
  }

  __device__ __forceinline__ void play(const ProgramLaunch& launch, const ProgramPass& pass,
                                       ProgramProgress& progress) {
    std::uint32_t elements[loads];
#pragma unroll
    for (int i = 0; i < loads; ++i) {
      elements[i] = bases_[i] + launch.body[i].per_inner * pass.inner +
                    drawn_part(launch.body[i], progress, pass);
    }
    std::uint32_t rest = pass.made & ((1u << loads) - 1);
    do {
      const std::uint32_t group = next_group(rest, launch.waits);
      const std::uint64_t base = launch.base + progress.zero;
#pragma unroll
      for (int i = 0; i < loads; ++i) {
        load_if<use>(group & (1u << i), base + std::uint64_t{elements[i]} * 4, values_[i]);
      }
      progress.zero = 0;
#pragma unroll
      for (int i = 0; i < loads; ++i) progress.zero += values_[i];
      rest ^= group;
    } while (rest != 0);
#pragma unroll
    for (int i = 0; i < loads; ++i) {
      if ((pass.made >> i & 1) != 0) progress.elements += elements[i];
    }
  }

 private:
  std::uint32_t bases_[loads];  // elements of the first inner pass, without their random parts
  std::uint32_t values_[loads];
};

/// Times each load alone: until its issue, and until the arrival of its value.
template <L1Use use>
class TimedLoads {
 public:
  __device__ __forceinline__ TimedLoads(const ProgramLaunch&, const ProgramProgress&) {}
  __device__ __forceinline__ void begin_next_outer(const ProgramLaunch&) {}

  __device__ __forceinline__ void play(const ProgramLaunch& launch, const ProgramPass& pass,
                                       ProgramProgress& progress) {
    std::uint32_t rest = pass.made & ((1u << launch.loads) - 1);
#pragma unroll 1
    for (; rest != 0; rest &= rest - 1) {
      const std::uint32_t element =
          element_of(launch, launch.body[__ffs(rest) - 1], progress, pass);
      const std::uint64_t address = launch.base + progress.zero + std::uint64_t{element} * 4;
      const std::uint64_t begin = read_clock();
      const std::uint32_t value = load_word<use>(address);
      const std::uint64_t issued = read_clock();
      store_shared_u32(progress.sink, value);
      const std::uint64_t end = read_clock();
      progress.zero = value;
      progress.elements += element;
      progress.issue_cycles += elapsed(begin, issued);
      if (progress.windows < launch.recorded) {
        if (threadIdx.x % 32 == 0) store_shared_u16(progress.record, cycles_between(begin, end));
        progress.record += 2;
        ++progress.windows;
      }
    }
  }
};

/// Stores a loaded zero, so that stores wait for all loads of the pass.
__device__ __forceinline__ void make_stores(const ProgramLaunch& launch, const ProgramPass& pass,
                                            ProgramProgress& progress) {
#pragma unroll 1
  for (std::uint32_t rest = pass.made >> launch.loads << launch.loads; rest != 0;
       rest &= rest - 1) {
    const std::uint32_t element = element_of(launch, launch.body[__ffs(rest) - 1], progress, pass);
    const std::uint64_t address = launch.base + progress.zero + std::uint64_t{element} * 4;
    asm volatile("st.global.u32 [%0], %1;" ::"l"(address), "r"(progress.zero) : "memory");
    progress.elements += element;
  }
}

}  // namespace sonde::kernels
