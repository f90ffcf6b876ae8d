// A launch on chosen SMs: tells the blocks how to find their SM, launches, and launches again with
// more blocks if the scheduler left a wanted SM without one.
#pragma once

#include "device/cuda/session/session.hpp"
#include "kernels/placement.hpp"

#include <functional>
#include <span>
#include <vector>

namespace sonde::cuda {

/// A limit for `accesses` dependent accesses, far above what they need.
TimeLimit limit_for(std::uint64_t accesses);

class PlacedLaunch {
 public:
  /// Adds its arrays to those of the session, and writes into them which SMs are wanted.
  /// @param sms distinct; a lane's rank is its SM's place in this list
  PlacedLaunch(Session& session, std::vector<int> sms, TimeLimit limit);

  /// The parameters of the kernel.
  kernels::Placement placement() const;

  /// @param queue queues the work between upload and kernel, and the kernel; it is called again if
  /// some SM got no block
  /// @throws DeviceError if an SM got no block then, either
  void run(LaunchShape shape, const std::function<void(const LaunchShape&)>& queue);

  /// The steps of run(): clearing the counters before the kernel, and counting SMs after it.
  void clear_state() { session_.arrays().clear(state_); }
  std::uint32_t claimed() const { return state_.host.front().claimed; }
  std::uint32_t wanted() const { return static_cast<std::uint32_t>(sms_.size()); }
  TimeLimit limit() const { return limit_; }

 private:
  Session& session_;
  std::vector<int> sms_;
  TimeLimit limit_;
  Input<std::int32_t> ranks_;
  Output<kernels::PlacementState> state_;
};

/// A launch, and how its kernel is launched; the number of blocks is set when it runs.
struct PlacedKernel {
  PlacedLaunch* launch = nullptr;
  LaunchShape shape;
};

/// Runs several launches at once.
/// @param kernels an SM has room for a block of each
/// @param queue queues the work between upload and kernels, and the kernels; it is called again if
/// an SM got no block of one of them
/// @throws DeviceError if an SM got no block then, either
void run_placed(Session& session, std::span<PlacedKernel> kernels,
                const std::function<void()>& queue);

/// The distinct SMs of a list, in order of appearance, and the place of each entry among them.
struct RankedSms {
  std::vector<int> sms;
  std::vector<int> ranks;
};
RankedSms rank_sms(const std::vector<int>& sms);

/// All SMs of a device.
std::vector<int> all_sms(const DeviceInfo& info);

}  // namespace sonde::cuda
