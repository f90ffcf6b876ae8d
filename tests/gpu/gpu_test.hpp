// What the tests on a real GPU share: the first visible device, or a skip; and small probes.
#pragma once

#include "base/random.hpp"
#include "base/units.hpp"
#include "device/cuda/cuda_device.hpp"

#include <gmock/gmock.h>

#include <algorithm>
#include <numeric>

namespace sonde {

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

inline double mean(const std::vector<std::uint32_t>& values) {
  return std::accumulate(values.begin(), values.end(), 0.0) / static_cast<double>(values.size());
}

}  // namespace sonde
