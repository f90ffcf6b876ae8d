// Work on memory before and after the timed kernels, in grid-stride loops.
#include "kernels/memory.hpp"
#include "kernels/pattern.cuh"

#include <algorithm>

namespace sonde::kernels {
namespace {

constexpr unsigned block_threads = 256;

unsigned blocks_for(std::uint64_t items, std::uint64_t most = 4096) {
  return static_cast<unsigned>(
      std::clamp<std::uint64_t>((items + block_threads - 1) / block_threads, 1, most));
}

__device__ std::uint64_t global_thread() {
  return std::uint64_t{blockIdx.x} * blockDim.x + threadIdx.x;
}

__device__ std::uint64_t grid_threads() { return std::uint64_t{gridDim.x} * blockDim.x; }

__device__ uint4 pattern_element(std::uint64_t element) {
  return {pattern_word(element * 4), pattern_word(element * 4 + 1), pattern_word(element * 4 + 2),
          pattern_word(element * 4 + 3)};
}

__global__ void scatter_kernel(unsigned char* base, const WordWrite* writes, std::uint64_t count) {
  for (std::uint64_t i = global_thread(); i < count; i += grid_threads()) {
    const WordWrite write = writes[i];
    *reinterpret_cast<std::uint64_t*>(base + write.offset_bytes) = write.value;
  }
}

/// @return the word after `word` in its sector of four words
__device__ std::uint64_t next_in_sector(std::uint64_t word) {
  return (word & ~std::uint64_t{3}) | ((word + 1) & 3);
}

__global__ void link_kernel(std::uint64_t* base, LinkedList list) {
  for (std::uint64_t i = global_thread(); i < list.count; i += grid_threads()) {
    const std::uint64_t word = list.words[i];
    const std::uint64_t next = i + 1 < list.count ? i + 1 : 0;
    base[word] = reinterpret_cast<std::uint64_t>(base + list.words[next]);
    if (list.shares == 0) continue;
    const std::uint64_t further = i + list.shares < list.count ? i + list.shares : i % list.shares;
    base[next_in_sector(word)] =
        reinterpret_cast<std::uint64_t>(base + next_in_sector(list.words[further]));
  }
}

__global__ void fill_kernel(uint4* base, std::uint64_t elements) {
  for (std::uint64_t i = global_thread(); i < elements; i += grid_threads()) {
    base[i] = pattern_element(i);
  }
}

__global__ void mismatch_kernel(const uint4* base, std::uint64_t elements, std::uint64_t step,
                                unsigned long long* mismatches) {
  for (std::uint64_t i = global_thread() * step; i < elements; i += grid_threads() * step) {
    const uint4 found = base[i];
    const uint4 wanted = pattern_element(i);
    if (found.x != wanted.x || found.y != wanted.y || found.z != wanted.z || found.w != wanted.w) {
      atomicAdd(mismatches, 1ull);
    }
  }
}

__global__ void count_other_words_kernel(const std::uint32_t* words, std::uint64_t count,
                                         std::uint32_t expected, unsigned long long* mismatches) {
  unsigned long long wrong = 0;
  for (std::uint64_t i = global_thread(); i < count; i += grid_threads()) {
    wrong += words[i] != expected ? 1 : 0;
  }
  if (wrong > 0) atomicAdd(mismatches, wrong);
}

__global__ void sum_words_kernel(const std::uint32_t* words, std::uint64_t count,
                                 unsigned long long* sum) {
  unsigned long long part = 0;
  for (std::uint64_t i = global_thread(); i < count; i += grid_threads()) part += words[i];
  if (part > 0) atomicAdd(sum, part);
}

/// Keeps loads: the compiler cannot know that the sum is hardly ever this value. If so: harmless.
__device__ void use_sum(std::uint32_t sum, std::uint32_t* sink) {
  if (sum == 0x5bd1e995u) *sink = sum;
}

__global__ void read_kernel(const uint4* base, std::uint64_t elements, std::uint32_t* sink) {
  std::uint32_t sum = 0;
  for (std::uint64_t i = global_thread(); i < elements; i += grid_threads()) {
    const uint4 value = __ldcg(base + i);
    sum += value.x ^ value.y ^ value.z ^ value.w;
  }
  use_sum(sum, sink);
}

__global__ void touch_kernel(const unsigned char* base, std::uint64_t pages,
                             std::uint64_t page_bytes, std::uint32_t* sink) {
  std::uint32_t sum = 0;
#pragma unroll 4
  for (std::uint64_t page = threadIdx.x; page < pages; page += blockDim.x) {
    // Lines of different pages must not all lie in one cache set.
    const std::uint64_t offset = page * page_bytes + (page * 128) % page_bytes;
    sum += __ldcg(reinterpret_cast<const std::uint32_t*>(base + offset));
  }
  use_sum(sum, sink);
}

}  // namespace

cudaError_t scatter_words(void* base, const WordWrite* writes, std::uint64_t count,
                          cudaStream_t stream) {
  scatter_kernel<<<blocks_for(count), block_threads, 0, stream>>>(static_cast<unsigned char*>(base),
                                                                  writes, count);
  return cudaGetLastError();
}

cudaError_t link_words(void* base, const LinkedList& list, cudaStream_t stream) {
  link_kernel<<<blocks_for(list.count), block_threads, 0, stream>>>(
      static_cast<std::uint64_t*>(base), list);
  return cudaGetLastError();
}

cudaError_t fill_pattern(void* base, std::uint64_t size_bytes, cudaStream_t stream) {
  fill_kernel<<<blocks_for(size_bytes / 16), block_threads, 0, stream>>>(static_cast<uint4*>(base),
                                                                         size_bytes / 16);
  return cudaGetLastError();
}

cudaError_t count_mismatches(const void* base, std::uint64_t size_bytes, std::uint64_t step,
                             unsigned long long* mismatches, cudaStream_t stream) {
  const std::uint64_t elements = size_bytes / 16;
  mismatch_kernel<<<blocks_for(elements / step + 1), block_threads, 0, stream>>>(
      static_cast<const uint4*>(base), elements, step, mismatches);
  return cudaGetLastError();
}

cudaError_t sum_words(const void* base, std::uint64_t words, unsigned long long* sum,
                      cudaStream_t stream) {
  sum_words_kernel<<<256, block_threads, 0, stream>>>(static_cast<const std::uint32_t*>(base),
                                                      words, sum);
  return cudaGetLastError();
}

cudaError_t count_other_words(const void* base, std::uint64_t words, std::uint32_t expected,
                              unsigned long long* mismatches, cudaStream_t stream) {
  count_other_words_kernel<<<blocks_for(words, 1024), block_threads, 0, stream>>>(
      static_cast<const std::uint32_t*>(base), words, expected, mismatches);
  return cudaGetLastError();
}

cudaError_t read_range(const void* base, std::uint64_t size_bytes, int sm_count,
                       std::uint32_t* sink, cudaStream_t stream) {
  read_kernel<<<static_cast<unsigned>(sm_count) * 4, block_threads, 0, stream>>>(
      static_cast<const uint4*>(base), size_bytes / 16, sink);
  return cudaGetLastError();
}

cudaError_t touch_pages(const void* base, std::uint64_t size_bytes, std::uint64_t page_bytes,
                        int sm_count, std::uint32_t* sink, cudaStream_t stream) {
  // Nearly every load misses all TLBs: the time depends on the number of misses in flight.
  touch_kernel<<<static_cast<unsigned>(sm_count), block_threads, 0, stream>>>(
      static_cast<const unsigned char*>(base), size_bytes / page_bytes, page_bytes, sink);
  return cudaGetLastError();
}

}  // namespace sonde::kernels
