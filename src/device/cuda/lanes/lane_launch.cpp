// Runs a launch of lanes, and turns the results of each lane into its part of the trace.
#include "device/cuda/lanes/lane_launch.hpp"

#include "base/error.hpp"
#include "base/failure_marks.hpp"
#include "device/device_error.hpp"

#include <fmt/format.h>

#include <array>
#include <utility>

namespace sonde::cuda {
namespace {

/// Errors of lanes that did not end well.
constexpr std::array failures{
    std::pair{kernels::LaneStatus::never_ran, "the lane on SM {} did not run (its block was lost)"},
    std::pair{kernels::LaneStatus::timed_out,
              "the lane on SM {} passed its deadline (memory or clock is far too slow). Look at "
              "the GPU's health, or ask for fewer accesses"},
    std::pair{kernels::LaneStatus::moved,
              "the block on SM {} was moved while it measured (its cycles mix two clocks). Look "
              "for other processes on the GPU"}};

}  // namespace

void check_lane(const kernels::LaneResult& result, int sm) {
  for (const auto& [status, text] : failures) {
    if (result.status == status) throw DeviceError(fmt::format(fmt::runtime(text), sm));
  }
  require(result.sm == static_cast<std::uint32_t>(sm), "a lane ran on another SM than planned");
}

void check_value(const kernels::LaneResult& result, std::uint64_t wanted, std::size_t lane) {
  if (result.final_value == wanted) return;
  throw_device_error(
      "{} lane {} on SM {} ended at {:#x} instead of {:#x} (a load returned what nobody "
      "wrote, so its times mean nothing). Check the GPU's memory and ECC counters",
      wrong_data_mark, lane, result.sm, result.final_value, wanted);
}

LaneLaunch::LaneLaunch(Session& session, Lanes lanes, TimeLimit limit)
    : session_(session),
      lanes_(std::move(lanes)),
      placed_(session, rank_sms(lanes_.sms).sms, limit),
      results_(session.arrays().add_output<kernels::LaneResult>(lanes_.sms.size())),
      records_(session.arrays().add_output<std::uint16_t>(lanes_.sms.size() * lanes_.recorded)) {}

PlacedKernel LaneLaunch::placed_kernel(unsigned block_threads, const layout::SharedPlan& shared) {
  return {.launch = &placed_,
          .shape = {.block_threads = block_threads,
                    .shared_bytes = shared.dynamic_bytes,
                    .carveout_percent = shared.carveout_percent}};
}

Trace LaneLaunch::read(const layout::SharedPlan& shared, const std::vector<bool>& wanted) const {
  Trace trace;
  trace.shared_carveout_bytes = shared.carveout_bytes;
  for (std::size_t lane = 0; lane < lanes_.sms.size(); ++lane) {
    check_lane(results_.host[lane], lanes_.sms[lane]);
    if (wanted.empty() || wanted[lane]) trace.lanes.push_back(read_lane(lane));
  }
  return trace;
}

LaneTrace LaneLaunch::read_lane(std::size_t lane) const {
  const kernels::LaneResult& result = results_.host[lane];
  const auto record = records_.host.subspan(lane * lanes_.recorded, lanes_.recorded);
  LaneTrace trace;
  trace.sm = lanes_.sms[lane];
  trace.window_cycles.assign(record.begin(), record.end());
  trace.elapsed_cycles = result.elapsed_cycles;
  trace.accesses = lanes_.accesses;
  return trace;
}

}  // namespace sonde::cuda
