// The part that chases and clock windows have in common: lanes on SMs, records and histograms.
#pragma once

#include "device/cuda/carveout.hpp"
#include "device/cuda/chain.hpp"
#include "device/cuda/placed_launch.hpp"
#include "device/probe.hpp"
#include "kernels/chase.hpp"

#include <functional>
#include <span>
#include <vector>

namespace sonde::cuda {

/// What a set of lanes is to do; one entry of `lane_sms` for each lane.
struct LaneWork {
  std::vector<int> lane_sms;
  std::uint64_t warmup = 0;
  std::uint64_t timed = 0;
  std::uint64_t recorded = 0;
  std::uint64_t amortised = 0;
  Concurrency concurrency = Concurrency::together;
  std::uint32_t script_capacity = 0;
  std::optional<std::uint64_t> shared_carveout_bytes;
};

/// The lanes, counts and carve-out of a chase.
LaneWork work_of(const ChaseProbe& probe);

/// Owns the layout of one launch. Construct, add arrays of your own, commit, fill tasks(), run.
class ChaseLaunchPlan {
 public:
  /// @throws DeviceError if the records do not fit, or too many lanes share an SM
  ChaseLaunchPlan(Session& session, const LaneWork& work);

  /// After the caller's own arrays are added. Fills everything but the tasks.
  void commit();
  std::span<kernels::ChaseTask> tasks() const { return session_.inputs.host(tasks_); }
  kernels::ChaseLaunch& launch() { return launch_; }

  using Launcher =
      std::function<cudaError_t(const kernels::ChaseLaunch&, const kernels::LaunchShape&)>;
  void run(const std::function<void()>& before, const Launcher& launcher);

  /// @throws DeviceError if a lane did not end well
  std::span<const kernels::LaneResult> results() const;
  /// Windows, histograms and elapsed cycles of all lanes.
  Trace trace() const;

 private:
  Session& session_;
  LaneWork work_;
  RankedSms ranked_;
  PlacedLaunch placed_;
  Slot<std::int32_t> lane_of_warp_;
  Slot<kernels::ChaseTask> tasks_;
  Slot<kernels::LaneResult> results_;
  Slot<std::uint16_t> records_;
  Slot<std::uint32_t> histograms_;
  SharedPlan shared_;
  kernels::ChaseLaunch launch_;
};

/// Entries of the longest script: what each warp keeps in shared memory.
std::uint32_t longest_script(const ScriptPlan& scripts);

/// Room for the scripts of all lanes; before the session's inputs are committed.
std::vector<Slot<std::uint32_t>> add_scripts(Session& session, const ScriptPlan& scripts);

/// Copies the scripts there and tells the tasks of them; after that.
void fill_scripts(Session& session, const ScriptPlan& scripts,
                  const std::vector<Slot<std::uint32_t>>& slots,
                  std::span<kernels::ChaseTask> tasks);

}  // namespace sonde::cuda
