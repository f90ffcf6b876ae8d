// Allocates the memory, places buffers in it, and flushes caches with the memory around them.
#include "device/cuda/session/pool.hpp"

#include "base/gpu_facts.hpp"
#include "base/units.hpp"
#include "device/device_error.hpp"
#include "kernels/memory.hpp"

#include <algorithm>

namespace sonde::cuda {
namespace {

/// Left free for the driver, texture arrays and launch arrays.
constexpr std::uint64_t spare_bytes = 2_GiB;
/// The driver may not give all free memory in one piece: each try asks for 1/32 less.
constexpr int tries = 16;

std::uint64_t free_memory_bytes() {
  std::size_t free_bytes = 0;
  std::size_t total_bytes = 0;
  SONDE_CUDA_CHECK(cudaMemGetInfo(&free_bytes, &total_bytes));
  return free_bytes;
}

std::uint64_t to_pages(std::uint64_t bytes) { return bytes / large_page_bytes * large_page_bytes; }

}  // namespace

void Pool::take() {
  const std::uint64_t free_bytes = free_memory_bytes();
  const std::uint64_t spare = std::min(spare_bytes, free_bytes / 8);
  auto wanted = static_cast<std::uint64_t>(static_cast<double>(free_bytes - spare) * most_share_);
  for (int left = tries; !memory_.try_reserve(to_pages(wanted)); wanted -= wanted / 32) {
    if (--left > 0) continue;
    throw_device_error(
        "the GPU gives no {} of memory in one piece, nor a little less (buffers are placed in it "
        "at random). Look for other processes on the GPU, or ask for a smaller --memory-percent",
        format_bytes(wanted));
  }
  // Addresses are aligned, not only offsets: a TLB counts from address 0.
  const auto address = reinterpret_cast<std::uint64_t>(memory_.get());
  const std::uint64_t least_bytes = 4 * layout::widest_place_bytes;
  const std::uint64_t step_bytes =
      memory_.size_bytes() > least_bytes ? layout::widest_place_bytes : large_page_bytes;
  const std::uint64_t skipped_bytes = (step_bytes - address % step_bytes) % step_bytes;
  if (memory_.size_bytes() <= skipped_bytes + flush_bytes_) {
    throw_device_error(
        "the GPU has {} of free memory (emptying its L2 alone takes {}). Look for other processes "
        "on the GPU, or give a larger --memory-percent",
        format_bytes(memory_.size_bytes()), format_bytes(flush_bytes_));
  }
  begin_ = memory_.get<std::byte>() + skipped_bytes;
  size_bytes_ = to_pages(memory_.size_bytes() - skipped_bytes - flush_bytes_);
}

std::byte* Pool::buffer(Place place, std::uint64_t size_bytes) {
  if (begin_ == nullptr) take();
  const auto offset_bytes = layout::place_buffer(seed_, place, size_bytes, size_bytes_);
  if (!offset_bytes) {
    throw_device_error(
        "the GPU has {} of memory for probes (this one spans {}). Ask for less, look for other "
        "processes on the GPU, or give a larger --memory-percent",
        format_bytes(size_bytes_), format_bytes(size_bytes));
  }
  offset_bytes_ = *offset_bytes;
  return begin_ + offset_bytes_;
}

void Pool::flush(std::uint64_t kept_bytes, int sm_count, cudaStream_t stream) {
  if (begin_ == nullptr) take();
  std::byte* flush = begin_ + size_bytes_;
  auto* sink = reinterpret_cast<std::uint32_t*>(flush);
  const std::uint64_t kept_pages = (kept_bytes + large_page_bytes - 1) / large_page_bytes;
  const std::uint64_t behind_bytes =
      std::min(offset_bytes_ + kept_pages * large_page_bytes, size_bytes_);
  SONDE_CUDA_CHECK(
      kernels::touch_pages(begin_, offset_bytes_, large_page_bytes, sm_count, sink, stream));
  SONDE_CUDA_CHECK(kernels::touch_pages(begin_ + behind_bytes, size_bytes_ - behind_bytes,
                                        large_page_bytes, sm_count, sink, stream));
  SONDE_CUDA_CHECK(kernels::read_range(flush, flush_bytes_, sm_count, sink, stream));
}

}  // namespace sonde::cuda
