// A launch on chosen SMs whose lanes each have a result and a record of timed windows. Only this
// class lays them out for the kernel and reads them into a trace.
#pragma once

#include "device/cuda/lanes/placed_launch.hpp"
#include "device/layout/carveout.hpp"

namespace sonde::cuda {

/// The lanes of a launch, in the order of the kernel's results.
struct Lanes {
  std::vector<int> sms;        // of each lane
  std::uint64_t recorded = 0;  // timed windows that each lane keeps
  std::uint64_t accesses = 0;  // of each lane, within its elapsed cycles
};

/// @throws DeviceError if the lane did not run to its end on its SM
void check_lane(const kernels::LaneResult& result, int sm);

/// @throws DeviceError if the loads of that lane did not end with `wanted`
void check_value(const kernels::LaneResult& result, std::uint64_t wanted, std::size_t lane);

class LaneLaunch {
 public:
  /// Adds its arrays to those of the session.
  LaneLaunch(Session& session, Lanes lanes, TimeLimit limit);

  /// Puts the SMs and the arrays of the lanes into the parameters of the kernel.
  template <class Launch>
  void describe(Launch& launch) const {
    launch.placement = placed_.placement();
    launch.results = results_.device;
    if constexpr (requires { launch.records; }) launch.records = records_.device;
  }

  /// Launches the kernel with cleared results.
  /// @param queue_before queues work between upload and kernel, each time it is launched
  /// @param wanted as in read()
  /// @return what the lanes recorded
  /// @throws DeviceError if an SM got no block, or a lane did not run to its end on its SM
  template <class Launch>
  Trace run(
      kernels::Kernel<Launch> kernel, Launch& launch, unsigned block_threads,
      const layout::SharedPlan& shared, const std::function<void()>& queue_before = [] {},
      const std::vector<bool>& wanted = {}) {
    describe(launch);
    placed_.run(placed_kernel(block_threads, shared).shape, [&](const LaunchShape& shape) {
      clear_results();
      queue_before();
      session_.launch(kernel, launch, shape);
    });
    return read(shared, wanted);
  }

  /// The steps of run(), for a launch beside another one: the kernel, clearing the results before
  /// it, and reading the lanes after it.
  PlacedKernel placed_kernel(unsigned block_threads, const layout::SharedPlan& shared);
  void clear_results() { session_.arrays().clear(results_); }
  /// @param wanted for each lane, whether the trace has it; empty: all
  Trace read(const layout::SharedPlan& shared, const std::vector<bool>& wanted = {}) const;

  /// After a run. @throws DeviceError if the lane's loads did not end with that value
  void check_final_value(std::size_t lane, std::uint64_t wanted) const {
    check_value(results_.host[lane], wanted, lane);
  }
  std::uint64_t final_value(std::size_t lane) const { return results_.host[lane].final_value; }

 private:
  LaneTrace read_lane(std::size_t lane) const;

  Session& session_;
  Lanes lanes_;
  PlacedLaunch placed_;
  Output<kernels::LaneResult> results_;
  Output<std::uint16_t> records_;
};

}  // namespace sonde::cuda
