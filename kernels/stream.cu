// Stream kernels. Hardware effect: how many bytes a second the memory below a load path gives to
// many independent accesses. A block owns whole tiles of threads x ilp elements, so that its
// accesses are coalesced and each tile lies in few DRAM pages. Loads are volatile and feed a sum,
// so none is left out; the values are a pattern, not zeros.
#include "kernels/launch.cuh"
#include "kernels/pattern.cuh"
#include "kernels/placement.cuh"
#include "kernels/stream.hpp"

namespace sonde::kernels {
namespace {

template <int bytes>
struct Element;

template <>
struct Element<4> {
  std::uint32_t x;
  __device__ std::uint32_t folded() const { return x; }
  static __device__ Element pattern(std::uint64_t i) { return {pattern_word(i)}; }
};
template <>
struct Element<8> {
  std::uint32_t x, y;
  __device__ std::uint32_t folded() const { return x ^ y; }
  static __device__ Element pattern(std::uint64_t i) {
    return {pattern_word(i * 2), pattern_word(i * 2 + 1)};
  }
};
template <>
struct Element<16> {
  std::uint32_t x, y, z, w;
  __device__ std::uint32_t folded() const { return x ^ y ^ z ^ w; }
  static __device__ Element pattern(std::uint64_t i) {
    return {pattern_word(i * 4), pattern_word(i * 4 + 1), pattern_word(i * 4 + 2),
            pattern_word(i * 4 + 3)};
  }
};

/// Tiles between two looks at the deadline. A tile takes from half a microsecond to some ten.
constexpr std::uint32_t deadline_tiles = 4096;

#define SONDE_LOAD_ELEMENT(flavour)                                                    \
  if constexpr (bytes == 4) {                                                          \
    asm volatile("ld.global" flavour ".u32 %0, [%1];" : "=r"(value.x) : "l"(address)); \
  } else if constexpr (bytes == 8) {                                                   \
    asm volatile("ld.global" flavour ".v2.u32 {%0, %1}, [%2];"                         \
                 : "=r"(value.x), "=r"(value.y)                                        \
                 : "l"(address));                                                      \
  } else {                                                                             \
    asm volatile("ld.global" flavour ".v4.u32 {%0, %1, %2, %3}, [%4];"                 \
                 : "=r"(value.x), "=r"(value.y), "=r"(value.z), "=r"(value.w)          \
                 : "l"(address));                                                      \
  }

template <Load load, int bytes>
__device__ __forceinline__ Element<bytes> load_element(const Element<bytes>* address) {
  Element<bytes> value;
  if constexpr (load == Load::ca) {
    SONDE_LOAD_ELEMENT("")
  } else if constexpr (load == Load::cg) {
    SONDE_LOAD_ELEMENT(".cg")
  } else if constexpr (load == Load::nc) {
    SONDE_LOAD_ELEMENT(".nc")
  } else {
    SONDE_LOAD_ELEMENT(".cv")
  }
  return value;
}
#undef SONDE_LOAD_ELEMENT

template <int bytes>
__device__ __forceinline__ void store_element(Element<bytes>* address,
                                              const Element<bytes>& value) {
  if constexpr (bytes == 4) {
    asm volatile("st.global.u32 [%0], %1;" ::"l"(address), "r"(value.x));
  } else if constexpr (bytes == 8) {
    asm volatile("st.global.v2.u32 [%0], {%1, %2};" ::"l"(address), "r"(value.x), "r"(value.y));
  } else {
    asm volatile("st.global.v4.u32 [%0], {%1, %2, %3, %4};" ::"l"(address), "r"(value.x),
                 "r"(value.y), "r"(value.z), "r"(value.w));
  }
}

/// One thread's `ilp` elements of a tile, `stride` apart; `count` of them exist. All loads are
/// issued before the first value is used.
template <StreamWork work, Load load, int bytes, int ilp>
__device__ __forceinline__ std::uint32_t do_elements(const StreamLaunch& launch,
                                                     std::uint64_t first, std::uint64_t stride) {
  using Item = Element<bytes>;
  const auto* source = static_cast<const Item*>(launch.source);
  auto* destination = static_cast<Item*>(launch.destination);
  Item values[ilp];
  std::uint32_t sum = 0;
#pragma unroll
  for (int j = 0; j < ilp; ++j) {
    const std::uint64_t at = first + j * stride;
    if constexpr (work == StreamWork::write) {
      values[j] = Item::pattern(at);
    } else {
      values[j] = load_element<load>(source + at);
    }
  }
#pragma unroll
  for (int j = 0; j < ilp; ++j) {
    if constexpr (work == StreamWork::read) {
      sum += values[j].folded();
    } else {
      store_element(destination + first + j * stride, values[j]);
    }
  }
  return sum;
}

/// A deadline that counts from the first look at it: blocks that have little to do never look.
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

/// The tiles of one block. In the order `apart` passes follow one another without a break: lines
/// go from SM to SM, and nobody waits for the last block of a pass.
template <StreamWork work, Load load, int bytes, int ilp>
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
    // No look at the timer among these; not unrolled, which would put more than `ilp` in flight.
#pragma unroll 1
    for (std::uint32_t i = 0; i < deadline_tiles && next < all; ++i) {
      sum += do_elements<work, load, bytes, ilp>(launch, at * tile + threadIdx.x, blockDim.x);
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

/// What is left of the data behind the last whole tile, in each pass.
template <StreamWork work, Load load, int bytes>
__device__ std::uint32_t do_rest(const StreamLaunch& launch, std::uint32_t rank,
                                 std::uint32_t ranks) {
  const bool is_same = launch.order == StreamOrder::same;
  const std::uint64_t begin =
      launch.rest_begin + std::uint64_t{is_same ? 0 : rank} * blockDim.x + threadIdx.x;
  const std::uint64_t step = std::uint64_t{is_same ? 1 : ranks} * blockDim.x;
  std::uint32_t sum = 0;
  for (std::uint32_t pass = 0; pass < launch.passes; ++pass) {
    for (std::uint64_t i = begin; i < launch.elements; i += step) {
      sum += do_elements<work, load, bytes, 1>(launch, i, 0);
    }
  }
  return sum;
}

template <StreamWork work, Load load, int bytes, int ilp>
__global__ void __launch_bounds__(stream_max_threads(bytes, ilp), 1)
    stream_kernel(const __grid_constant__ StreamLaunch launch) {
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
  std::uint32_t sum = do_tiles<work, load, bytes, ilp>(launch, rank);
  if (launch.rest_begin < launch.elements) sum += do_rest<work, load, bytes>(launch, rank, ranks);
  if (sum == 0x5bd1e995u) *launch.sink = sum;  // keeps the loads alive; never mind if it happens
  if (launch.placement.wanted > 0) note_span(launch.spans, begin);
}

using StreamKernel = void (*)(StreamLaunch);

template <StreamWork work, int bytes, int ilp>
StreamKernel kernel_of(Load load) {
  switch (load) {
    case Load::ca: return stream_kernel<work, Load::ca, bytes, ilp>;
    case Load::cg: return stream_kernel<work, Load::cg, bytes, ilp>;
    case Load::nc: return stream_kernel<work, Load::nc, bytes, ilp>;
    case Load::cv: return stream_kernel<work, Load::cv, bytes, ilp>;
  }
  return nullptr;
}

template <int bytes, int ilp>
StreamKernel kernel_of(StreamWork work, Load load) {
  switch (work) {
    case StreamWork::read: return kernel_of<StreamWork::read, bytes, ilp>(load);
    case StreamWork::copy: return kernel_of<StreamWork::copy, bytes, ilp>(load);
    // Writes do not load: one kernel stands for all load paths.
    case StreamWork::write: return stream_kernel<StreamWork::write, Load::ca, bytes, ilp>;
  }
  return nullptr;
}

StreamKernel kernel_of(StreamWork work, Load load, int element_bytes, int ilp) {
  return select_kernel<StreamKernel, 4, 8, 16>(element_bytes, [=](auto bytes) {
    return select_kernel<StreamKernel, 1, 2, 4, 8, 16>(
        ilp, [=](auto factor) { return kernel_of<bytes.value, factor.value>(work, load); });
  });
}

}  // namespace

cudaError_t launch_stream(const StreamLaunch& launch, StreamWork work, Load load, int element_bytes,
                          int ilp, const LaunchShape& shape, cudaStream_t stream) {
  const StreamKernel kernel = kernel_of(work, load, element_bytes, ilp);
  if (kernel == nullptr) return cudaErrorInvalidValue;
  return launch_kernel(kernel, launch, shape, stream);
}

}  // namespace sonde::kernels
