// A launch on chosen SMs whose lanes each leave a result and a record of timed windows: the one
// place that lays these out for the kernel and reads them into a trace.
#pragma once

#include "device/cuda/lanes/placed_launch.hpp"
#include "device/layout/carveout.hpp"

namespace sonde::cuda {

/// The lanes of a launch, in the order of the kernel's results.
struct Lanes {
  std::vector<int> sms;        // of each lane
  std::uint64_t recorded = 0;  // timed windows that each lane keeps
  std::uint64_t accesses = 0;  // of each lane, in its elapsed cycles
};

/// @throws DeviceError if the lane did not run to its end on its SM
void check_lane(const kernels::LaneResult& result, int sm);

/// @throws DeviceError if the loads of that lane did not end with `wanted`
void check_value(const kernels::LaneResult& result, std::uint64_t wanted, std::size_t lane);

class LaneLaunch {
 public:
  /// Adds its arrays to those of the session.
  LaneLaunch(Session& session, Lanes lanes, TimeLimit limit);

  /// Tells the kernel of its SMs and of the lanes' arrays.
  template <class Launch>
  void describe(Launch& launch) const {
    launch.placement = placed_.placement();
    launch.results = results_.device;
    if constexpr (requires { launch.records; }) launch.records = records_.device;
  }

  /// Tells the kernel of them, and launches it with cleared results.
  /// @param queue_before what must come between upload and kernel, each time it is launched
  /// @param wanted as in read()
  /// @return what the lanes recorded
  /// @throws DeviceError if an SM could not be had, or a lane did not run to its end on its SM
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

  /// What a run is made of, for one beside another launch: the kernel; its results are to be
  /// cleared before it; what the lanes recorded, as run().
  PlacedKernel placed_kernel(unsigned block_threads, const layout::SharedPlan& shared);
  void clear_results() { session_.arrays().clear(results_); }
  /// @param wanted whether the trace is to have each lane; empty: all
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
