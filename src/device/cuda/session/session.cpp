// Opens a GPU, holds its memory, runs the work that plays queue, and adds the conditions to traces.
#include "device/cuda/session/session.hpp"

#include "base/error.hpp"
#include "base/failure_marks.hpp"
#include "base/gpu_facts.hpp"
#include "base/random.hpp"
#include "base/units.hpp"
#include "device/cuda/session/inventory.hpp"
#include "device/device_error.hpp"
#include "kernels/memory.hpp"

#include <fmt/format.h>

#include <unistd.h>

#include <algorithm>
#include <thread>

namespace sonde::cuda {
namespace {

using std::chrono::steady_clock;

/// Reads of this many times the size of the L2 surely empty it, whatever its replacement policy.
constexpr std::uint64_t flush_factor = 3;
/// The host polls without sleeping for so long: most probes end sooner, and waking up takes as long
/// as a short probe.
constexpr auto watched = std::chrono::milliseconds(10);
constexpr auto health_period = std::chrono::milliseconds(50);

}  // namespace

Session::Session(int ordinal, std::uint64_t seed, double memory_share,
                 const std::vector<DeviceChoice>& peers)
    : ordinal_(ordinal),
      seed_(seed),
      nvml_(Nvml::open(read_choice(ordinal).uuid)),
      info_(open_device()),
      arrays_(stream()),
      pool_(seed, memory_share, std::max<std::uint64_t>(flush_factor * info_.l2_bytes, 64_MiB)),
      peers_(ordinal, peers) {}

/// Reads the inventory first: it counts foreign processes, and the context would make this process
/// one of them.
DeviceInfo Session::open_device() {
  DeviceInfo info = read_inventory(ordinal_, nvml_.get());
  const Processes before = nvml_ ? nvml_->processes() : Processes{};
  SONDE_CUDA_CHECK(cudaSetDevice(ordinal_));
  SONDE_CUDA_CHECK(cudaFree(nullptr));  // makes the context now
  if (nvml_) {
    own_processes_ = find_own(before, nvml_->processes(), static_cast<unsigned>(getpid()));
  }
  return info;
}

void Session::look_for_others() {
  if (!nvml_) return;
  foreign_processes_ =
      std::max(foreign_processes_, count_others(nvml_->processes(), own_processes_));
}

Health Session::health() {
  if (!nvml_) return {};
  Health health = nvml_->health();
  look_for_others();
  health.foreign_processes = foreign_processes_;
  return health;
}

void Session::let_second_stream_follow() {
  SONDE_CUDA_CHECK(cudaEventRecord(turn_.get(), stream()));
  SONDE_CUDA_CHECK(cudaStreamWaitEvent(second_stream(), turn_.get()));
}

void Session::follow_second_stream() {
  SONDE_CUDA_CHECK(cudaEventRecord(turn_.get(), second_stream()));
  SONDE_CUDA_CHECK(cudaStreamWaitEvent(stream(), turn_.get()));
}

Links Session::links() {
  Links links = nvml_ ? nvml_->links() : Links{};
  links.pcie.generation = std::max(links.pcie.generation, busy_link_.generation);
  links.pcie.width = std::max(links.pcie.width, busy_link_.width);
  return links;
}

void Session::look_at_busy_link() {
  if (!nvml_) return;
  const PcieLink seen = nvml_->pcie_link();
  busy_link_.generation = std::max(busy_link_.generation, seen.generation);
  busy_link_.width = std::max(busy_link_.width, seen.width);
}

void Session::begin_job() {
  look_for_others();
  host_memory_.release();
  busy_link_ = {};
}

std::byte* Session::host_data(Place place, std::uint64_t size_bytes) {
  host_memory_.reserve(size_bytes);
  constexpr std::uint64_t page_bytes = 4096;  // the smallest of any host
  const std::uint64_t places = (host_memory_.size_bytes() - size_bytes) / page_bytes + 1;
  Random random(derive_seed(seed_, fmt::format("host memory {}", place)));
  return host_memory_.get<std::byte>() + random.below(places) * page_bytes;
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
    device_s_ = 0;
    const auto start = std::chrono::system_clock::now().time_since_epoch();
    Trace trace = play();
    trace.buffer_offset_bytes = pool_.address();
    trace.device_s = device_s_;
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
  SONDE_CUDA_CHECK(cudaEventRecord(begin_.get(), stream()));
  arrays_.upload();
  try {
    queue();
  } catch (const DeviceLostError&) {
    throw;
  } catch (const DeviceError&) {
    wait(limit.host());  // the next probe must not touch the arrays before the queued work ends
    throw;
  }
  arrays_.download();
  wait(limit.host());
  device_s_ += elapsed_ns(begin_, end_) * 1e-9;
}

void Session::wait(std::chrono::nanoseconds limit) {
  SONDE_CUDA_CHECK(cudaEventRecord(end_.get(), stream()));
  const auto begin = steady_clock::now();
  for (;;) {
    const cudaError_t state = cudaEventQuery(end_.get());
    if (state == cudaSuccess) return;
    if (state != cudaErrorNotReady) throw_cuda_error(state, "waiting for a kernel");
    const auto waited = steady_clock::now() - begin;
    if (waited > limit) {
      throw DeviceLostError(fmt::format(
          "the GPU was still at work after {:.1f} s (a kernel did not heed its own deadline; "
          "{}). Look at dmesg, and reset the GPU before it is used again",
          std::chrono::duration<double>(waited).count(), hang_mark));
    }
    if (waited > watched) std::this_thread::sleep_for(std::chrono::microseconds(50));
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
