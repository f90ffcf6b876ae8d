// Device side of stream.hpp, for all streams by threads. A block takes whole tiles of threads x ilp
// elements: its accesses are coalesced, and each tile lies in few DRAM pages. Loads are volatile
// and feed a sum, so that none is removed; the values are a pattern, not zeros.
#pragma once

#include "kernels/pattern.cuh"
#include "kernels/placement.cuh"
#include "kernels/select.cuh"
#include "kernels/stream/stream.hpp"

namespace sonde::kernels {

template <int bytes>
struct Element {
  static constexpr int words = bytes / 4;
  std::uint32_t word[words];
  __device__ std::uint32_t folded() const {
    if constexpr (words == 1) return word[0];
    if constexpr (words == 2) return word[0] ^ word[1];
    if constexpr (words == 4) return word[0] ^ word[1] ^ word[2] ^ word[3];
  }
  static __device__ Element pattern(std::uint64_t i) {
    Element element;
#pragma unroll
    for (int k = 0; k < words; ++k) element.word[k] = pattern_word(i * words + k);
    return element;
  }
};

/// Tiles between two checks of the deadline. A tile takes half a microsecond to about ten.
constexpr std::uint32_t deadline_tiles = 4096;

#define SONDE_LOAD_ELEMENT(flavour)                                                          \
  if constexpr (bytes == 4) {                                                                \
    asm volatile("ld.global" flavour ".u32 %0, [%1];" : "=r"(value.word[0]) : "l"(address)); \
  } else if constexpr (bytes == 8) {                                                         \
    asm volatile("ld.global" flavour ".v2.u32 {%0, %1}, [%2];"                               \
                 : "=r"(value.word[0]), "=r"(value.word[1])                                  \
                 : "l"(address));                                                            \
  } else {                                                                                   \
    asm volatile("ld.global" flavour ".v4.u32 {%0, %1, %2, %3}, [%4];"                       \
                 : "=r"(value.word[0]), "=r"(value.word[1]), "=r"(value.word[2]),            \
                   "=r"(value.word[3])                                                       \
                 : "l"(address));                                                            \
  }

template <Load load, StreamHint hint, int bytes>
__device__ __forceinline__ Element<bytes> load_element(const Element<bytes>* address) {
  Element<bytes> value;
  if constexpr (hint == StreamHint::no_allocate) {
    SONDE_LOAD_ELEMENT(".L1::no_allocate")
  } else if constexpr (hint == StreamHint::evict_first) {
    SONDE_LOAD_ELEMENT(".cs")
  } else if constexpr (load == Load::ca) {
    SONDE_LOAD_ELEMENT("")
  } else {
    static_assert(load == Load::cg);
    SONDE_LOAD_ELEMENT(".cg")
  }
  return value;
}
#undef SONDE_LOAD_ELEMENT

#define SONDE_STORE_ELEMENT(flavour)                                                               \
  if constexpr (bytes == 4) {                                                                      \
    asm volatile("st.global" flavour ".u32 [%0], %1;" ::"l"(address), "r"(value.word[0]));         \
  } else if constexpr (bytes == 8) {                                                               \
    asm volatile("st.global" flavour ".v2.u32 [%0], {%1, %2};" ::"l"(address), "r"(value.word[0]), \
                 "r"(value.word[1]));                                                              \
  } else {                                                                                         \
    asm volatile("st.global" flavour ".v4.u32 [%0], {%1, %2, %3, %4};" ::"l"(address),             \
                 "r"(value.word[0]), "r"(value.word[1]), "r"(value.word[2]), "r"(value.word[3]));  \
  }

template <StreamHint hint, int bytes>
__device__ __forceinline__ void store_element(Element<bytes>* address,
                                              const Element<bytes>& value) {
  if constexpr (hint == StreamHint::evict_first) {
    SONDE_STORE_ELEMENT(".cs")
  } else if constexpr (hint == StreamHint::write_through) {
    SONDE_STORE_ELEMENT(".wt")
  } else {
    SONDE_STORE_ELEMENT("")
  }
}
#undef SONDE_STORE_ELEMENT

__device__ __forceinline__ void add_one(Element<4>* address) {
  asm volatile("red.relaxed.gpu.global.add.u32 [%0], 1;" ::"l"(address) : "memory");
}

/// The access of a stream's threads.
template <StreamWork work_, Load load_, int bytes_, StreamHint hint_ = StreamHint::none>
struct Access {
  static constexpr StreamWork work = work_;
  static constexpr Load load = load_;
  static constexpr int bytes = bytes_;
  static constexpr StreamHint hint = hint_;
  static constexpr bool times_tiles = false;
};

/// One thread's `ilp` elements of a tile, `stride` apart. Issues all loads before it uses a value.
template <class Access, int ilp>
__device__ __forceinline__ std::uint32_t do_elements(const StreamLaunch& launch,
                                                     std::uint64_t first, std::uint64_t stride) {
  using Item = Element<Access::bytes>;
  const auto* source = static_cast<const Item*>(launch.source);
  auto* destination = static_cast<Item*>(launch.destination);
  Item values[ilp];
  std::uint32_t sum = 0;
#pragma unroll
  for (int j = 0; j < ilp; ++j) {
    const std::uint64_t at = first + j * stride;
    if constexpr (Access::work == StreamWork::write) {
      values[j] = Item::pattern(at);
    } else if constexpr (Access::work != StreamWork::add) {
      values[j] = load_element<Access::load, Access::hint>(source + at);
    }
  }
#pragma unroll
  for (int j = 0; j < ilp; ++j) {
    if constexpr (Access::work == StreamWork::read) {
      sum += values[j].folded();
    } else if constexpr (Access::work == StreamWork::add) {
      add_one(destination + first + j * stride);
    } else {
      store_element<Access::hint>(destination + first + j * stride, values[j]);
    }
  }
  return sum;
}

/// Reads; one warp of a block times some tiles.
struct TimedReads : Access<StreamWork::read, Load::ca, 16> {
  static constexpr bool times_tiles = true;
};

/// The same reads, between two clock reads. The store in between waits for the first word of each
/// load; all words of a load arrive together.
template <class Access, int ilp>
__device__ __forceinline__ std::uint32_t time_elements(const StreamLaunch& launch,
                                                       std::uint64_t window, std::uint64_t first) {
  using Item = Element<Access::bytes>;
  __shared__ std::uint32_t sink;
  const auto* source = static_cast<const Item*>(launch.source);
  Item values[ilp];
  const std::uint64_t begin = read_clock();
#pragma unroll
  for (int j = 0; j < ilp; ++j) {
    values[j] = load_element<Access::load, Access::hint>(
        source + first + static_cast<std::uint64_t>(j) * blockDim.x);
  }
  std::uint32_t arrived = 0;
#pragma unroll
  for (int j = 0; j < ilp; ++j) arrived ^= values[j].word[0];
  store_shared_u32(shared_address(&sink), arrived);
  const std::uint64_t end = read_clock();
  if (threadIdx.x == 0) launch.windows[window] = {read_sm(), cycles_between(begin, end)};
  std::uint32_t sum = 0;
#pragma unroll
  for (int j = 0; j < ilp; ++j) sum += values[j].folded();
  return sum;
}

/// One thread's part of tile `at`; `first` is its first element.
template <class Access, int ilp>
__device__ __forceinline__ std::uint32_t do_tile(const StreamLaunch& launch, std::uint64_t at,
                                                 std::uint64_t first) {
  if constexpr (Access::times_tiles) {
    const auto number = static_cast<std::uint32_t>(at);
    if (threadIdx.x < 32 && number % launch.window_step == 0) {
      return time_elements<Access, ilp>(launch, number / launch.window_step, first);
    }
  }
  return do_elements<Access, ilp>(launch, first, blockDim.x);
}

/// A deadline that starts at its first check: blocks with little work never check it.
class LateDeadline {
 public:
  __device__ explicit LateDeadline(std::uint64_t limit_ns) : limit_ns_(limit_ns) {}
  __device__ bool passed() {
    const std::uint64_t now_ns = read_globaltimer();
    if (end_ns_ == 0) end_ns_ = now_ns + limit_ns_;
    return now_ns >= end_ns_;
  }

 private:
  std::uint64_t limit_ns_;
  std::uint64_t end_ns_ = 0;
};

/// The tiles of one block. In the order `apart` a pass follows the other without a break: lines
/// move between SMs, and no block waits for the last one of a pass.
template <class Access, int ilp>
__device__ std::uint32_t do_tiles(const StreamLaunch& launch, std::uint32_t rank) {
  const bool is_same = launch.order == StreamOrder::same;
  if (!is_same && rank >= launch.workers) return 0;
  const std::uint64_t all = launch.tiles * launch.passes;
  const std::uint64_t tile = std::uint64_t{blockDim.x} * ilp;
  const std::uint64_t step = is_same ? 1 : launch.workers;
  LateDeadline deadline(launch.placement.limit_ns);
  std::uint32_t sum = 0;
  std::uint64_t at = is_same ? 0 : rank;
  std::uint64_t next = at;
  while (next < all) {
    // No timer reads in this loop; not unrolled, since that would put more than `ilp` in flight.
#pragma unroll 1
    for (std::uint32_t i = 0; i < deadline_tiles && next < all; ++i) {
      sum += do_tile<Access, ilp>(launch, at, at * tile + threadIdx.x);
      next += step;
      at += step;
      if (at >= launch.tiles) at -= launch.tiles;
    }
    if (next < all && deadline.passed()) {
      *launch.timed_out = 1;
      break;
    }
  }
  return sum;
}

/// The elements after the last whole tile, in each pass.
template <class Access>
__device__ std::uint32_t do_rest(const StreamLaunch& launch, std::uint32_t rank,
                                 std::uint32_t ranks) {
  const bool is_same = launch.order == StreamOrder::same;
  const std::uint64_t begin =
      launch.rest_begin + std::uint64_t{is_same ? 0 : rank} * blockDim.x + threadIdx.x;
  const std::uint64_t step = std::uint64_t{is_same ? 1 : ranks} * blockDim.x;
  std::uint32_t sum = 0;
  for (std::uint32_t pass = 0; pass < launch.passes; ++pass) {
    for (std::uint64_t i = begin; i < launch.elements; i += step) {
      sum += do_elements<Access, 1>(launch, i, 0);
    }
  }
  return sum;
}

/// The whole kernel of a stream.
template <class Access, int ilp>
__device__ __forceinline__ void run_stream(const StreamLaunch& launch) {
  std::uint32_t rank = blockIdx.x;
  std::uint32_t ranks = gridDim.x;
  if (launch.placement.wanted > 0) {
    const int held = hold_wanted_sm(launch.placement);
    if (held < 0) return;
    rank = static_cast<std::uint32_t>(held);
    ranks = launch.placement.wanted;
    const Deadline deadline(launch.placement.limit_ns);
    if (threadIdx.x == 0) start_together(launch.placement, ranks, deadline);
    if (!pass_barrier()) return;
  }
  const std::uint64_t begin = read_clock();
  std::uint32_t sum = do_tiles<Access, ilp>(launch, rank);
  if (launch.rest_begin < launch.elements) sum += do_rest<Access>(launch, rank, ranks);
  if (sum == 0x5bd1e995u) *launch.sink = sum;  // keeps the loads; harmless if true
  if (launch.placement.wanted > 0) note_span(launch.spans, begin);
}

using StreamKernel = Kernel<StreamLaunch>;

/// Kernels in stream_hints.cu, stream_timed.cu, stream_bulk.cu, stream_adds.cu, stream_groups.cu;
/// null if there is no such kernel.
StreamKernel hinted_stream(const StreamCode& code);
StreamKernel timed_stream(const StreamCode& code);
StreamKernel bulk_stream(StreamWork work);
StreamKernel adding_stream(const StreamCode& code);
StreamKernel grouped_stream(const StreamCode& code);

}  // namespace sonde::kernels
