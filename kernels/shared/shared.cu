// Shared memory kernels. The chase measures the cost of conflicts: every thread loads its own word,
// which holds its own address, so loads are dependent and the pattern is constant; or words that
// hold the address of the next one, for the cost of a footprint. The stream measures the bandwidth:
// ilp loads, then ilp stores, without conflicts; or loads alone, as fast as the banks give words.
#include "kernels/placement.cuh"
#include "kernels/select.cuh"
#include "kernels/shared/shared.hpp"

#include <type_traits>

namespace sonde::kernels {
namespace {

enum class Work { copies, loads };

/// Place of a thread in the chase. `upper` keeps the upper half of an 8-byte word (zero); else
/// ptxas would only load the lower half.
struct OwnWord {
  std::uint32_t address;
  std::uint32_t upper;
};

/// @return the upper half, to be merged outside the timed window
template <int bytes>
__device__ __forceinline__ std::uint32_t load_own_word(OwnWord& word) {
  if constexpr (bytes == 4) {
    word.address = load_shared_u32(word.address);
    return 0;
  } else {
    const std::uint64_t value = load_shared_u64(word.address);
    word.address = static_cast<std::uint32_t>(value);
    return static_cast<std::uint32_t>(value >> 32);
  }
}

/// Writes the thread's ring of words, and follows it once.
/// @return the start of the ring, where it also ends
template <int bytes>
__device__ OwnWord prepare_words(const SharedChaseLaunch& launch, std::uint32_t first) {
  std::uint32_t next = launch.hop_words % launch.words;
#pragma unroll 1
  for (std::uint32_t i = 0; i < launch.words; ++i) {
    const std::uint32_t address = first + i * launch.step_bytes;
    store_shared_u32(address, first + next * launch.step_bytes);
    if constexpr (bytes == 8) store_shared_u32(address + 4, 0);
    next = next + 1 == launch.words ? 0 : next + 1;
  }
  __syncwarp();
  OwnWord word{first, 0};
#pragma unroll 1
  for (std::uint32_t i = 0; i < launch.words; ++i) word.upper |= load_own_word<bytes>(word);
  return word;
}

/// Address of the thread after a number of loads.
__device__ std::uint32_t address_after(const SharedChaseLaunch& launch, std::uint32_t first,
                                       std::uint64_t loads) {
  const auto at = static_cast<std::uint32_t>(loads * launch.hop_words % launch.words);
  return first + at * launch.step_bytes;
}

/// True if a timed word stays whole in the loop. Since sm_100 ptxas (nvcc 13.0) otherwise copies
/// its lower half inside the window; for older targets both halves, if it stays whole.
template <int bytes>
#if __CUDA_ARCH__ >= 1000
inline constexpr bool keeps_whole = bytes == 8;
#else
inline constexpr bool keeps_whole = false;
#endif

template <int bytes>
__device__ void timed_accesses(OwnWord& word, std::uint32_t sink, std::uint32_t record,
                               std::uint32_t count) {
  const unsigned one = unknown_one();
  [[maybe_unused]] std::uint64_t whole = word.address;
#pragma unroll 1
  for (std::uint32_t i = 0; i < count; i += one) {
    if constexpr (keeps_whole<bytes>) word.upper |= static_cast<std::uint32_t>(whole >> 32);
    std::uint32_t upper = 0;
    const std::uint64_t begin = read_clock();
    if constexpr (keeps_whole<bytes>) {
      whole = load_shared_u64(static_cast<std::uint32_t>(whole));
      store_shared_u32(sink, static_cast<std::uint32_t>(whole));
    } else {
      upper = load_own_word<bytes>(word);
      store_shared_u32(sink, word.address);
    }
    const std::uint64_t end = read_clock();
    word.upper |= upper;
    const std::uint32_t cycles = cycles_between(begin, end);
    if (threadIdx.x == 0) store_shared_u16(record, cycles);
    record += 2;
  }
  if constexpr (keeps_whole<bytes>) word.address = static_cast<std::uint32_t>(whole);
}

template <int bytes>
__device__ std::uint64_t amortised_accesses(OwnWord& word, std::uint32_t sink,
                                            std::uint32_t count) {
  const std::uint64_t begin = read_clock();
#pragma unroll 64
  for (std::uint32_t i = 0; i < count; ++i) word.upper |= load_own_word<bytes>(word);
  store_shared_u32(sink, word.address);
  return cycles_since(begin);
}

template <int bytes>
__global__ void __launch_bounds__(32, 1)
    shared_chase_kernel(const __grid_constant__ SharedChaseLaunch launch) {
  extern __shared__ __align__(256) unsigned char shared[];
  const int rank = hold_wanted_sm(launch.placement);
  if (rank < 0) return;
  const std::uint32_t base = shared_address(shared);
  const std::uint32_t sink = base + threadIdx.x * 4;  // a bank for each lane
  const std::uint32_t own = base + shared_data_offset_bytes + launch.offsets_bytes[threadIdx.x];
  const std::uint32_t record_offset = shared_data_offset_bytes + launch.data_bytes;
  const std::uint32_t sm = read_sm();
  OwnWord word = prepare_words<bytes>(launch, own);
  std::uint64_t loads = 0;
  std::uint64_t elapsed_cycles = 0;
  for (std::uint32_t round = 0; round < launch.rounds; ++round) {
    const std::uint32_t timed = round == 0 ? min(launch.accesses, 4u) : launch.accesses;
    timed_accesses<bytes>(word, sink, base + record_offset, timed);
    __syncwarp();
    elapsed_cycles = amortised_accesses<bytes>(word, sink, launch.accesses);
    __syncwarp();
    loads += timed + launch.accesses;
  }
  const bool wrong = __any_sync(
      __activemask(), word.address != address_after(launch, own, loads) || word.upper != 0);
  const auto* record = reinterpret_cast<const std::uint16_t*>(shared + record_offset);
  for (std::uint32_t i = threadIdx.x; i < launch.accesses; i += launch.threads) {
    launch.records[static_cast<std::uint64_t>(rank) * launch.accesses + i] = record[i];
  }
  if (threadIdx.x == 0) {
    launch.results[rank] = {lane_status(true, sm), sm, elapsed_cycles, wrong ? 1u : 0u};
  }
}

template <int bytes, int ilp>
__device__ __forceinline__ void copy_elements(std::uint32_t source, std::uint32_t destination,
                                              std::uint32_t stride) {
  std::uint64_t values[ilp];
#pragma unroll
  for (int j = 0; j < ilp; ++j) {
    values[j] =
        bytes == 4 ? load_shared_u32(source + j * stride) : load_shared_u64(source + j * stride);
  }
#pragma unroll
  for (int j = 0; j < ilp; ++j) {
    if constexpr (bytes == 4) {
      store_shared_u32(destination + j * stride, static_cast<std::uint32_t>(values[j]));
    } else {
      store_shared_u64(destination + j * stride, values[j]);
    }
  }
}

/// Loads an element again and again; volatile, as ptxas would load it once.
/// @return a sum that needs all values
template <class Element>
__device__ __forceinline__ Element load_element(std::uint32_t source) {
  Element values[shared_loads_in_row];
#pragma unroll
  for (Element& value : values) {
    if constexpr (sizeof(Element) == 4) {
      asm volatile("ld.volatile.shared.u32 %0, [%1];" : "=r"(value) : "r"(source) : "memory");
    } else {
      asm volatile("ld.volatile.shared.u64 %0, [%1];" : "=l"(value) : "r"(source) : "memory");
    }
  }
  Element sum = 0;
#pragma unroll
  for (const Element value : values) sum ^= value;
  return sum;
}

template <int bytes, int ilp, Work work>
__global__ void __launch_bounds__(stream_max_threads(bytes, ilp), 1)
    shared_stream_kernel(const __grid_constant__ SharedStreamLaunch launch) {
  extern __shared__ __align__(256) unsigned char shared[];
  const std::uint32_t stride = blockDim.x * bytes;
  const std::uint32_t source = shared_address(shared) + threadIdx.x * bytes;
  const std::uint32_t destination = source + stride * ilp;
  const int written = work == Work::copies ? ilp : 1;
  for (int j = 0; j < written; ++j) store_shared_u32(source + j * stride, threadIdx.x);
  const Deadline deadline(launch.limit_ns);
  if (threadIdx.x == 0) {
    atomicAdd(&launch.blocks_on_sm[read_sm()], 1u);
    atomicAdd(launch.arrived, 1u);
    if (!wait_for(*launch.arrived, gridDim.x, deadline, 20)) *launch.timed_out = 1;
  }
  if (!pass_barrier()) return;
  const std::uint64_t begin = read_clock();
  std::uint64_t sum = 0;
  for (std::uint32_t pass = 0; pass < launch.passes; ++pass) {
    if constexpr (work == Work::copies) {
      copy_elements<bytes, ilp>(source, destination, stride);
    } else {
      sum += load_element<std::conditional_t<bytes == 4, std::uint32_t, std::uint64_t>>(source);
    }
    if (pass % 1024 == 1023 && deadline.passed()) {
      *launch.timed_out = 1;
      break;
    }
  }
  if constexpr (work == Work::loads) {  // a use of all values
    store_shared_u32(source, static_cast<std::uint32_t>(sum ^ sum >> 32));
  }
  note_span(launch.spans, begin);
}

template <int bytes>
Kernel<SharedStreamLaunch> stream_kernel_by_ilp(int ilp) {
  return select_kernel<Kernel<SharedStreamLaunch>, 1, 2, 4, 6, 8>(
      ilp, [](auto factor) { return shared_stream_kernel<bytes, factor.value, Work::copies>; });
}

}  // namespace

unsigned shared_chase_bytes(const SharedChaseLaunch& launch) {
  return shared_data_offset_bytes + launch.data_bytes + (launch.accesses * 2 + 3) / 4 * 4;
}

Kernel<SharedChaseLaunch> find_shared_chase(int element_bytes) {
  return element_bytes == 8 ? shared_chase_kernel<8> : shared_chase_kernel<4>;
}

Kernel<SharedStreamLaunch> find_shared_loads(int element_bytes) {
  return element_bytes == 8 ? shared_stream_kernel<8, shared_loads_in_row, Work::loads>
                            : shared_stream_kernel<4, shared_loads_in_row, Work::loads>;
}

Kernel<SharedStreamLaunch> find_shared_stream(int element_bytes, int ilp) {
  return element_bytes == 8 ? stream_kernel_by_ilp<8>(ilp) : stream_kernel_by_ilp<4>(ilp);
}

}  // namespace sonde::kernels
