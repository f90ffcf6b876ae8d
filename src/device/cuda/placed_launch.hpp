// A launch on chosen SMs: lays out what the blocks need to find their SM, launches, waits, and
// launches again with more blocks if the scheduler left a wanted SM without one.
#pragma once

#include "device/cuda/session.hpp"
#include "kernels/placement.hpp"

#include <chrono>
#include <functional>
#include <vector>

namespace sonde::cuda {

/// Time that a kernel's lanes may take; the host waits some seconds longer before it gives the GPU
/// up.
struct TimeLimit {
  std::chrono::nanoseconds kernel;
  std::chrono::nanoseconds host() const { return 2 * kernel + std::chrono::seconds(5); }
};

/// A limit for `accesses` dependent accesses, far above what they need.
TimeLimit limit_for(std::uint64_t accesses);

class PlacedLaunch {
 public:
  /// Adds its arrays to the session's inputs and outputs, which the caller commits afterwards.
  /// @param sms distinct; a lane's rank is its SM's place in this list
  PlacedLaunch(Session& session, std::vector<int> sms, TimeLimit limit);

  /// What the kernel is told; after commit.
  kernels::Placement placement() const;

  /// Uploads the inputs, calls `before` (queues what must come between upload and kernel) and
  /// `launch` (queues the kernel), downloads the outputs and waits.
  /// @param clear slots of `outputs` to be zero before a launch, done by `before`
  /// @throws DeviceError if an SM could not be had
  void run(kernels::LaunchShape shape, const std::function<void()>& before,
           const std::function<cudaError_t(const kernels::LaunchShape&)>& launch);

  const std::vector<int>& sms() const { return sms_; }

 private:
  void fill_ranks();
  std::uint32_t claimed() const;
  unsigned most_resident_blocks(const kernels::LaunchShape& shape) const;

  Session& session_;
  std::vector<int> sms_;
  TimeLimit limit_;
  Slot<std::int32_t> ranks_;
  Slot<kernels::PlacementState> state_;
};

/// The distinct SMs of a list, in order of appearance, and the place of each entry among them.
struct RankedSms {
  std::vector<int> sms;
  std::vector<int> ranks;
};
RankedSms rank_sms(const std::vector<int>& sms);

/// All SMs of a device.
std::vector<int> all_sms(const DeviceInfo& info);

/// @throws DeviceError if the lane did not run to its end on its SM
void check_lane(const kernels::LaneResult& result, int sm);

}  // namespace sonde::cuda
