// The part that chases and timed windows without a load have in common: warps for the lanes of each
// SM, tasks, scripts and histograms.
#pragma once

#include "device/cuda/lanes/lane_launch.hpp"
#include "device/layout/chain.hpp"
#include "kernels/chase/chase.hpp"

#include <functional>
#include <optional>
#include <span>
#include <vector>

namespace sonde::cuda {

/// Accesses of a lane, in all.
inline std::uint64_t accesses_of(const ChaseProbe& probe) {
  return probe.warmup_accesses + probe.timed_accesses + probe.amortised_accesses;
}

/// The time limit of a chase; lanes that run in turn add up.
TimeLimit limit_of(const ChaseProbe& probe);

class ChaseLaunchPlan {
 public:
  /// Adds its arrays to those of the session. Fills all but what tasks() leaves to the caller.
  /// @param probe its lanes and counts are used, but not the lists of its lanes
  /// @throws DeviceError if too many lanes share an SM
  ChaseLaunchPlan(Session& session, const ChaseProbe& probe);

  /// [lane] The caller fills start, script and stores.
  std::span<kernels::ChaseTask> tasks() const { return tasks_.host; }
  kernels::ChaseLaunch& launch() { return launch_; }
  const kernels::ChaseLaunch& launch() const { return launch_; }

  /// Puts the lists of the lanes, as scripts, into arrays that warps copy to shared memory, and
  /// tells the kernel. @throws DeviceError if the lists cannot be scripts
  void add_scripts(const ChaseProbe& probe);

  /// @param queue queues the work before the kernel, and the kernel with launch()
  /// @return timed windows, histograms and elapsed cycles of all lanes
  /// @throws DeviceError if the records do not fit, or a lane did not end well
  Trace run(const std::function<void(const LaunchShape&)>& queue);

  /// Runs the launches of one probe at once: all their lanes begin together, and each SM has room
  /// for a block of each.
  /// @param queue as that of run(), given the kernel of each plan
  /// @return [plan] as run()
  static std::vector<Trace> run_together(
      const std::vector<ChaseLaunchPlan*>& plans,
      const std::function<void(std::span<const PlacedKernel>)>& queue);

  /// For the values that the lanes loaded last.
  const LaneLaunch& lanes() const { return lanes_; }

 private:
  void fill_lanes();
  Trace read(const layout::SharedPlan& shared) const;

  Session& session_;
  LaneLaunch lanes_;
  std::vector<int> rank_of_lane_;
  std::optional<std::uint64_t> asked_carveout_bytes_;
  std::uint64_t shared_bytes_;  // of a block
  Input<std::int32_t> lane_of_warp_;
  Input<kernels::ChaseTask> tasks_;
  Output<std::uint32_t> histograms_;
  kernels::ChaseLaunch launch_;
};

}  // namespace sonde::cuda
