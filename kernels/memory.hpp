// Work on memory before and after probes: writes words and patterns, checks them, fills caches and
// TLBs with other addresses.
#pragma once

#include <cuda_runtime_api.h>

#include <cstdint>

namespace sonde::kernels {

/// `value` for the 8-byte word at `offset_bytes`.
struct WordWrite {
  std::uint64_t offset_bytes;
  std::uint64_t value;
};

/// Queues base[offset] = value for every write. Offsets are distinct, or their values equal.
cudaError_t scatter_words(void* base, const WordWrite* writes, std::uint64_t count,
                          cudaStream_t stream);

/// A list of words (index in units of 8 bytes), each in its own sector of 32 bytes.
struct LinkedList {
  const std::uint32_t* words;
  std::uint64_t count;
  std::uint64_t shares;  // 0: none
};

/// Queues the making of a chain: each word of the list gets the address of the next word. With
/// shares, the word after it in its sector gets the address of the word after the one `shares`
/// further in the list (at the end: after the first one of the same share).
cudaError_t link_words(void* base, const LinkedList& list, cudaStream_t stream);

/// Queues writing the pattern of pattern.cuh over `size_bytes` (a multiple of 16).
cudaError_t fill_pattern(void* base, std::uint64_t size_bytes, cudaStream_t stream);

/// Queues a check of every `step`-th 16-byte element: *mismatches grows by those without the
/// pattern.
cudaError_t count_mismatches(const void* base, std::uint64_t size_bytes, std::uint64_t step,
                             unsigned long long* mismatches, cudaStream_t stream);

/// Queues a sum: *sum grows by all words of 4 bytes.
cudaError_t sum_words(const void* base, std::uint64_t words, unsigned long long* sum,
                      cudaStream_t stream);

/// Queues a check: *mismatches grows by the number of 4-byte words other than `expected`.
cudaError_t count_other_words(const void* base, std::uint64_t words, std::uint32_t expected,
                              unsigned long long* mismatches, cudaStream_t stream);

/// Queues reads of the whole range through the L2, by all SMs. `sink` is never written.
cudaError_t read_range(const void* base, std::uint64_t size_bytes, int sm_count,
                       std::uint32_t* sink, cudaStream_t stream);

/// Queues one load from each `page_bytes` of the range by one block on every SM: fills the TLBs of
/// all levels with these pages. `sink` is never written.
cudaError_t touch_pages(const void* base, std::uint64_t size_bytes, std::uint64_t page_bytes,
                        int sm_count, std::uint32_t* sink, cudaStream_t stream);

}  // namespace sonde::kernels
