// Opens a GPU, holds its memory, and runs what the players queue; conditions go into their traces.
#include "device/cuda/session.hpp"

#include "base/error.hpp"
#include "base/gpu_facts.hpp"
#include "base/units.hpp"
#include "device/cuda/inventory.hpp"
#include "device/device_error.hpp"
#include "kernels/memory.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <thread>

namespace sonde::cuda {
namespace {

using std::chrono::steady_clock;

/// Left for the driver when all other memory is taken for its pages.
constexpr std::uint64_t spare_bytes = 1_GiB;
/// A whole L2 of any replacement policy is surely gone after reads of this many times its size.
constexpr std::uint64_t flush_factor = 3;
/// The data buffer starts with this share of the memory, so that it seldom has to grow: growing
/// takes some 4 ms for each GB, and more if memory held for its pages must be given up.
constexpr std::uint64_t least_data_share = 64;
constexpr auto health_period = std::chrono::milliseconds(50);

/// Inventory first: it counts foreign processes, and this process joins them with its context.
DeviceInfo open_device(int ordinal, const Nvml* nvml) {
  DeviceInfo info = read_inventory(ordinal, nvml);
  SONDE_CUDA_CHECK(cudaSetDevice(ordinal));
  SONDE_CUDA_CHECK(cudaFree(nullptr));  // makes the context now
  return info;
}

}  // namespace

Session::Session(int ordinal, std::uint64_t seed)
    : ordinal_(ordinal),
      seed_(seed),
      nvml_(Nvml::open(read_uuid(ordinal))),
      info_(open_device(ordinal, nvml_.get())),
      arrays_(stream()) {}

Health Session::health() { return nvml_ ? nvml_->health() : Health{}; }

std::byte* Session::data(std::uint64_t size_bytes) {
  size_bytes = std::max(size_bytes, info_.memory_bytes / least_data_share);
  if (!data_.try_reserve(size_bytes)) {
    rest_.release();
    flush_.release();
    if (!data_.try_reserve(size_bytes)) {
      throw_device_error(
          "the GPU has no {} of memory in one piece (the probe spans that much). Ask for less, or "
          "look for other processes on the GPU",
          format_bytes(static_cast<double>(size_bytes)));
    }
  }
  return data_.get<std::byte>();
}

void Session::flush_caches(std::uint64_t kept_bytes) {
  flush_.reserve(flush_factor * info_.l2_bytes);
  std::size_t free_bytes = 0;
  std::size_t total_bytes = 0;
  SONDE_CUDA_CHECK(cudaMemGetInfo(&free_bytes, &total_bytes));
  if (free_bytes > 2 * spare_bytes) {
    rest_.release();
    SONDE_CUDA_CHECK(cudaMemGetInfo(&free_bytes, &total_bytes));
    rest_.try_reserve((free_bytes - spare_bytes) / large_page_bytes * large_page_bytes);
  }
  auto* sink = flush_.get<std::uint32_t>();
  const std::uint64_t kept_pages = (kept_bytes + large_page_bytes - 1) / large_page_bytes;
  const std::uint64_t kept = std::min(kept_pages * large_page_bytes, data_.size_bytes());
  SONDE_CUDA_CHECK(kernels::touch_pages(data_.get<std::byte>() + kept, data_.size_bytes() - kept,
                                        large_page_bytes, info_.sm_count, sink, stream()));
  SONDE_CUDA_CHECK(kernels::touch_pages(rest_.get(), rest_.size_bytes(), large_page_bytes,
                                        info_.sm_count, sink, stream()));
  SONDE_CUDA_CHECK(
      kernels::read_range(flush_.get(), flush_.size_bytes(), info_.sm_count, sink, stream()));
}

Trace Session::measure(const std::function<Trace()>& play) {
  if (lost_) {
    throw DeviceLostError(
        "the GPU was lost by an earlier probe (nothing more can be measured on it in this "
        "process)");
  }
  try {
    SONDE_CUDA_CHECK(cudaSetDevice(ordinal_));  // this thread may be another than last time
    arrays_.clear();
    const auto start = std::chrono::system_clock::now().time_since_epoch();
    Trace trace = play();
    trace.conditions = read_conditions();
    trace.conditions.start_unix_ns =
        std::chrono::duration_cast<std::chrono::nanoseconds>(start).count();
    return trace;
  } catch (const DeviceLostError&) {
    lost_ = true;
    throw;
  }
}

void Session::run(TimeLimit limit, const std::function<void()>& queue) {
  arrays_.upload();
  try {
    queue();
  } catch (const DeviceLostError&) {
    throw;
  } catch (const DeviceError&) {
    wait(limit.host());  // the next probe may not touch the arrays before what was queued has ended
    throw;
  }
  arrays_.download();
  wait(limit.host());
}

void Session::wait(std::chrono::nanoseconds limit) {
  SONDE_CUDA_CHECK(cudaEventRecord(done_.get(), stream()));
  const auto begin = steady_clock::now();
  for (;;) {
    const cudaError_t state = cudaEventQuery(done_.get());
    if (state == cudaSuccess) return;
    if (state != cudaErrorNotReady) throw_cuda_error(state, "waiting for a kernel");
    const auto waited = steady_clock::now() - begin;
    if (waited > limit) {
      throw DeviceLostError(fmt::format(
          "the GPU was still at work after {:.1f} s (a kernel did not heed its own deadline; it "
          "hangs). Look at dmesg, and reset the GPU before it is used again",
          std::chrono::duration<double>(waited).count()));
    }
    if (waited > std::chrono::milliseconds(2)) {
      std::this_thread::sleep_for(std::chrono::microseconds(50));
    }
  }
}

Conditions Session::read_conditions() {
  const auto now = steady_clock::now();
  if (nvml_ && now - last_health_at_ > health_period) {
    last_health_ = nvml_->health();
    last_health_at_ = now;
  }
  return {.sm_clock_hz = last_health_.sm_clock_hz,
          .memory_clock_hz = last_health_.memory_clock_hz,
          .temperature_c = last_health_.temperature_c,
          .throttle_reasons = last_health_.throttle_reasons,
          .seed = seed_};
}

}  // namespace sonde::cuda
