// Hardware effect: the cost of an atomic addition to shared memory if threads of a warp meet in a
// word or a bank, in a chain or in a row. ptxas makes all of them ATOMS: there is no RED for shared
// memory, but since sm_80 an addition of the constant 1 becomes ATOMS.POPC.INC. Sources of error:
// merged or dropped additions (volatile assembly; the sums are checked), loop overhead (16 in a
// row), code around the loop (a run of twice as many minus a run of as many).
#include "kernels/placement.cuh"
#include "kernels/shared/shared.hpp"

namespace sonde::kernels {
namespace {

/// The addend of a thread, and the sum of its additions so far.
struct Adding {
  std::uint32_t operand;
  std::uint32_t sum;
};

template <SharedAtomic form>
__device__ __forceinline__ void add_to_word(std::uint32_t word, Adding& adding) {
  if constexpr (form == SharedAtomic::returned) {
    adding.sum += adding.operand;
    asm volatile("atom.shared.add.u32 %0, [%1], %0;" : "+r"(adding.operand) : "r"(word) : "memory");
  } else if constexpr (form == SharedAtomic::unused) {
    asm volatile("red.shared.add.u32 [%0], %1;" ::"r"(word), "r"(adding.operand) : "memory");
  } else {
    asm volatile("red.shared.add.u32 [%0], 1;" ::"r"(word) : "memory");
  }
}

/// Cycles of `count` additions and of the code around them; a load waits for the last addition.
template <SharedAtomic form>
__device__ std::uint64_t time_additions(std::uint32_t count, std::uint32_t word, std::uint32_t sink,
                                        Adding& adding) {
  __syncwarp();
  const std::uint64_t begin = read_clock();
#pragma unroll 1
  for (std::uint32_t i = 0; i < count; i += atomics_in_row) {
#pragma unroll
    for (std::uint32_t j = 0; j < atomics_in_row; ++j) add_to_word<form>(word, adding);
  }
  store_shared_u32(sink, form == SharedAtomic::returned ? adding.operand : load_shared_u32(word));
  const std::uint64_t end = read_clock();
  if constexpr (form == SharedAtomic::unused) adding.sum += count * adding.operand;
  if constexpr (form == SharedAtomic::counted) adding.sum += count;
  return end - begin;
}

template <SharedAtomic form>
__global__ void __launch_bounds__(32, 1)
    shared_atomic_kernel(const __grid_constant__ SharedAtomicLaunch launch) {
  extern __shared__ __align__(256) unsigned char shared[];
  const int rank = hold_wanted_sm(launch.placement);
  if (rank < 0) return;
  const std::uint32_t sm = read_sm();
  const std::uint32_t base = shared_address(shared);
  const std::uint32_t sink = base + threadIdx.x * 4;
  const std::uint32_t word = base + shared_data_offset_bytes + launch.offsets_bytes[threadIdx.x];
  store_shared_u32(word, 0);
  __syncwarp();
  Adding adding{threadIdx.x + 1, 0};
  time_additions<form>(launch.accesses, word, sink, adding);  // a rehearsal
  const std::uint64_t fewer = time_additions<form>(launch.accesses, word, sink, adding);
  const std::uint64_t more = time_additions<form>(2 * launch.accesses, word, sink, adding);
  __syncwarp();
  asm volatile("red.shared.add.u32 [%0], %1;" ::"r"(word), "r"(0u - adding.sum) : "memory");
  __syncwarp();
  const bool wrong = __any_sync(0xffffffffu, load_shared_u32(word) != 0);
  if (threadIdx.x == 0) {
    launch.results[rank] = {lane_status(true, sm), sm, more - fewer, wrong ? 1u : 0u};
  }
}

}  // namespace

Kernel<SharedAtomicLaunch> find_shared_atomics(SharedAtomic form) {
  switch (form) {
    case SharedAtomic::returned: return shared_atomic_kernel<SharedAtomic::returned>;
    case SharedAtomic::unused: return shared_atomic_kernel<SharedAtomic::unused>;
    case SharedAtomic::counted: break;
  }
  return shared_atomic_kernel<SharedAtomic::counted>;
}

}  // namespace sonde::kernels
