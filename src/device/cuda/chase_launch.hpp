// The part that chases and timed windows without a load have in common: warps for the lanes of each
// SM, tasks, scripts and histograms.
#pragma once

#include "device/cuda/lane_launch.hpp"
#include "device/layout/chain.hpp"
#include "kernels/chase/chase.hpp"

#include <functional>
#include <optional>
#include <span>
#include <vector>

namespace sonde::cuda {

/// Construct it, fill() when all arrays of all launches are added, then tasks(), run.
class ChaseLaunchPlan {
 public:
  /// @param probe its lanes and counts; the lists of its lanes are not looked at
  /// @param script_capacity entries that each warp keeps in shared memory
  /// @throws DeviceError if too many lanes share an SM
  ChaseLaunchPlan(Session& session, const ChaseProbe& probe, std::uint32_t script_capacity = 0);

  /// Fills its arrays, but for what is the caller's.
  void fill();

  /// [lane] Start, script and stores are the caller's to fill.
  std::span<kernels::ChaseTask> tasks() const { return session_.arrays().host(tasks_); }
  kernels::ChaseLaunch& launch() { return launch_; }
  const kernels::ChaseLaunch& launch() const { return launch_; }

  /// @param queue queues what must come before the kernel, and the kernel with launch()
  /// @return timed windows, histograms and elapsed cycles of all lanes
  /// @throws DeviceError if the records do not fit, or a lane did not end well
  Trace run(const std::function<void(const kernels::LaunchShape&)>& queue);

  /// Runs the launches of one probe at once: all their lanes begin together, and each SM has room
  /// for a block of each.
  /// @param queue as that of run(), given the kernel of each plan
  /// @return [plan] as run()
  static std::vector<Trace> run_together(
      const std::vector<ChaseLaunchPlan*>& plans,
      const std::function<void(std::span<const PlacedKernel>)>& queue);

  /// What the lanes loaded last.
  const LaneLaunch& lanes() const { return lanes_; }

 private:
  void fill_tasks();
  Trace read(const layout::SharedPlan& shared) const;

  Session& session_;
  LaneLaunch lanes_;
  std::vector<int> rank_of_lane_;
  std::optional<std::uint64_t> asked_carveout_bytes_;
  Input<std::int32_t> lane_of_warp_;
  Input<kernels::ChaseTask> tasks_;
  Output<std::uint32_t> histograms_;
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
