// What the tests on a real GPU share: the first visible device, or a skip; and small probes.
#pragma once

#include "base/random.hpp"
#include "base/units.hpp"
#include "device/cuda/cuda_device.hpp"

#include <gmock/gmock.h>

#include <algorithm>
#include <numeric>

namespace sonde {

inline std::vector<int> first_sms(int count) {
  std::vector<int> sms(static_cast<std::size_t>(count));
  std::iota(sms.begin(), sms.end(), 0);
  return sms;
}

class GpuTest : public testing::Test {
 protected:
  static void SetUpTestSuite() {
    const std::vector<DeviceChoice> choices = list_cuda_devices();
    if (!choices.empty()) device_ = open_cuda_device(choices.front(), 1, 1);
  }
  static void TearDownTestSuite() { device_.reset(); }
  void SetUp() override {
    if (device_ == nullptr) GTEST_SKIP() << "no NVIDIA GPU is visible";
  }
  Device& device() { return *device_; }
  std::vector<int> all_sms() { return first_sms(device().info().sm_count); }
  /// Windows of the first lane.
  std::vector<std::uint32_t> windows_of(const ChaseProbe& probe) {
    return device().run(probe).lanes.at(0).window_cycles;
  }
  /// Published bands are known for H100 and H200.
  bool is_hopper() { return device().info().compute_major == 9; }

  inline static std::unique_ptr<Device> device_;
};

/// One word of each `step_bytes` of a buffer, in random order.
inline std::vector<std::uint64_t> shuffled_offsets(std::uint64_t size_bytes,
                                                   std::uint64_t step_bytes) {
  std::vector<std::uint64_t> offsets_bytes(size_bytes / step_bytes);
  for (std::size_t i = 0; i < offsets_bytes.size(); ++i) offsets_bytes[i] = i * step_bytes;
  Random random(7);
  shuffle(offsets_bytes, random);
  return offsets_bytes;
}

/// A warm chase on one SM, all of it recorded.
inline ChaseProbe warm_chase(LoadPath path, std::vector<std::uint64_t> offsets_bytes,
                             std::uint64_t accesses, int sm = 0) {
  ChaseProbe probe;
  probe.buffer_bytes = *std::ranges::max_element(offsets_bytes) + 8;
  probe.warmup_accesses = 2 * offsets_bytes.size();
  probe.timed_accesses = accesses;
  probe.recorded_accesses = accesses;
  probe.lanes = {{sm, std::move(offsets_bytes), {}, path}};
  return probe;
}

inline double median(std::vector<std::uint32_t> values) {
  std::ranges::nth_element(values, values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2));
  return values[values.size() / 2];
}

/// Of all lanes.
inline std::vector<std::uint32_t> all_windows(const Trace& trace) {
  std::vector<std::uint32_t> windows;
  for (const LaneTrace& lane : trace.lanes) {
    windows.insert(windows.end(), lane.window_cycles.begin(), lane.window_cycles.end());
  }
  return windows;
}

inline double cycles_per_access(const LaneTrace& lane) {
  return static_cast<double>(lane.elapsed_cycles) / static_cast<double>(lane.accesses);
}

/// Bytes per second of the fastest repeat.
inline double rate_of(const StreamProbe& probe, const Trace& trace) {
  return stream_bytes(probe) / std::ranges::min(trace.repeat_ns) * 1e9;
}

/// Both bounds are excluded.
template <class Bound, class Other>
auto between(Bound low, Other high) {
  return testing::AllOf(testing::Gt(low), testing::Lt(high));
}

inline double mean(const std::vector<std::uint32_t>& values) {
  return std::accumulate(values.begin(), values.end(), 0.0) / static_cast<double>(values.size());
}

}  // namespace sonde
