// The part that chases and timed windows without a load have in common: warps for the lanes of each
// SM, tasks, scripts and histograms.
#pragma once

#include "device/cuda/lane_launch.hpp"
#include "device/layout/chain.hpp"
#include "kernels/chase.hpp"

#include <functional>
#include <span>
#include <vector>

namespace sonde::cuda {

/// Construct it when all other arrays of the launch are added, fill tasks(), run.
class ChaseLaunchPlan {
 public:
  /// @param probe its lanes and counts; the lists of its lanes are not looked at
  /// @param script_capacity entries that each warp keeps in shared memory
  /// @throws DeviceError if the records do not fit, or too many lanes share an SM
  ChaseLaunchPlan(Session& session, const ChaseProbe& probe, std::uint32_t script_capacity = 0);

  /// [lane] Start, script and stores are the caller's to fill.
  std::span<kernels::ChaseTask> tasks() const { return session_.arrays().host(tasks_); }
  kernels::ChaseLaunch& launch() { return launch_; }

  /// @param queue queues what must come before the kernel, and the kernel with launch()
  /// @return timed windows, histograms and elapsed cycles of all lanes
  /// @throws DeviceError if a lane did not end well
  Trace run(const std::function<void(const kernels::LaunchShape&)>& queue);

  /// What the lanes loaded last.
  const LaneLaunch& lanes() const { return lanes_; }

 private:
  void describe_launch(const ChaseProbe& probe);
  void fill_tasks(const std::vector<int>& rank_of_lane);

  Session& session_;
  LaneLaunch lanes_;
  Input<std::int32_t> lane_of_warp_;
  Input<kernels::ChaseTask> tasks_;
  Output<std::uint32_t> histograms_;
  layout::SharedPlan shared_;
  kernels::ChaseLaunch launch_;
};

/// The lists of a chase as scripts, in arrays that warps copy to shared memory.
class ScriptArrays {
 public:
  /// Adds them to the session's arrays. @throws DeviceError if the lists make no scripts
  ScriptArrays(Session& session, const std::vector<ChaseLane>& lanes);

  /// Entries of the longest one.
  std::uint32_t capacity() const;
  std::uint32_t unit_bytes() const { return plan_.unit_bytes; }

  /// Copies the scripts to their arrays and tells the tasks of them.
  void fill(std::span<kernels::ChaseTask> tasks) const;

 private:
  Session& session_;
  layout::ScriptPlan plan_;
  std::vector<Input<std::uint32_t>> scripts_;  // [lane]
};

}  // namespace sonde::cuda
