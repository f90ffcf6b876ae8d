// Two streams that wait for each other by events; what ends the co-runners is a word in memory.
#include "device/cuda/co_runners.hpp"

#include "device/device_error.hpp"
#include "device/layout/place.hpp"

#include <algorithm>

namespace sonde::cuda {
namespace {

std::vector<int> sms_of(const std::vector<CoRunner>& runners) {
  std::vector<int> sms;
  for (const CoRunner& runner : runners) sms.push_back(runner.sm);
  return sms;
}

/// What the lanes do between begin() and end(), and a while more.
TimeLimit limit_of(const ChaseProbe& probe) {
  const std::uint64_t accesses =
      probe.warmup_accesses + probe.timed_accesses + probe.amortised_accesses;
  const bool in_turn = probe.concurrency == Concurrency::in_turn;
  return limit_for(2 * accesses * (in_turn ? probe.lanes.size() : 1));
}

constexpr int carveout_percent = 100;

/// Half of the shared memory, and what the driver reserves: one block per SM, and room for the
/// kernel that waits for them.
LaunchShape shape_on(const DeviceInfo& info) {
  const std::uint64_t half = info.shared_bytes_per_sm / 2;
  return {.grid_blocks = static_cast<unsigned>(info.sm_count),
          .block_threads = kernels::co_runner_threads,
          .shared_bytes = static_cast<unsigned>(std::min(half, info.shared_bytes_per_block)),
          .carveout_percent = carveout_percent};
}

constexpr LaunchShape await_shape{
    .grid_blocks = 1, .block_threads = 1, .shared_bytes = 0, .carveout_percent = carveout_percent};

}  // namespace

CoRunners::CoRunners(Session& session, const ChaseProbe& probe, const PathLanes& lanes)
    : session_(session),
      runners_(probe.co_runners),
      placed_(session, sms_of(probe.co_runners), limit_of(probe)),
      lines_(session.arrays().add_input<std::uint64_t>(probe.co_runners.size())),
      stop_(session.arrays().add_output<std::uint32_t>(1)) {
  if (!layout::has_addresses(probe.lanes.front().path)) {
    throw_device_error(
        "co-runners beside a chase on the path {} (it has no addresses that reductions could be "
        "made on). Chase through global memory",
        to_text(probe.lanes.front().path));
  }
  for (std::size_t i = 0; i < runners_.size(); ++i) {
    lines_.host[i] = lanes.place(runners_[i].offset_bytes);
  }
}

void CoRunners::run_beside(const LaunchShape& shape, const QueueLaunch& chase) {
  // Beside co-runners nothing can be loaded: it would wait for their end.
  chase(load_only(shape));
  session_.launch(kernels::await_arrivals, {}, load_only(await_shape));
  begin();
  chase(shape);
  end();
}

void CoRunners::begin() {
  placed_.clear_state();
  session_.arrays().clear(stop_);
  session_.let_second_stream_follow();
  const kernels::CoRunnerLaunch co_runners{
      .placement = placed_.placement(), .lines = lines_.device, .stop = stop_.device};
  launch(kernels::co_runners, co_runners, shape_on(session_.info()), session_.second_stream());
  session_.launch(kernels::await_arrivals, co_runners.placement, await_shape);
}

void CoRunners::end() {
  SONDE_CUDA_CHECK(cudaMemsetAsync(stop_.device, 1, sizeof(std::uint32_t), session_.stream()));
  session_.follow_second_stream();
}

void CoRunners::check() const {
  if (placed_.claimed() == runners_.size()) return;
  throw_device_error(
      "only {} of {} co-runners got their SM (the others made no reductions). Look for other "
      "processes on the GPU",
      placed_.claimed(), runners_.size());
}

}  // namespace sonde::cuda
