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
kernels::LaunchShape shape_on(const DeviceInfo& info) {
  const std::uint64_t half = info.shared_bytes_per_sm / 2;
  return {.grid_blocks = static_cast<unsigned>(info.sm_count),
          .block_threads = kernels::co_runner_threads,
          .shared_bytes = static_cast<unsigned>(std::min(half, info.shared_bytes_per_block)),
          .carveout_percent = carveout_percent};
}

constexpr kernels::LaunchShape await_shape{
    .grid_blocks = 1, .block_threads = 1, .shared_bytes = 0, .carveout_percent = carveout_percent};

}  // namespace

CoRunners::CoRunners(Session& session, const ChaseProbe& probe)
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
}

void CoRunners::fill(const PathLanes& lanes) {
  placed_.fill_ranks();
  const auto lines = session_.arrays().host(lines_);
  for (std::size_t i = 0; i < runners_.size(); ++i) {
    lines[i] = lanes.place(runners_[i].offset_bytes);
  }
}

void CoRunners::run_beside(const kernels::LaunchShape& shape, const QueueLaunch& chase) {
  // Beside co-runners nothing can be loaded: it would wait for their end.
  chase(load_only(shape));
  SONDE_CUDA_CHECK(kernels::await_arrivals({}, load_only(await_shape), session_.stream()));
  begin();
  chase(shape);
  end();
}

void CoRunners::begin() {
  placed_.clear_state();
  session_.arrays().clear(stop_);
  session_.let_second_stream_follow();
  kernels::CoRunnerLaunch launch;
  launch.placement = placed_.placement();
  launch.lines = session_.arrays().device(lines_);
  launch.stop = session_.arrays().device(stop_);
  SONDE_CUDA_CHECK(
      kernels::launch_co_runners(launch, shape_on(session_.info()), session_.second_stream()));
  SONDE_CUDA_CHECK(kernels::await_arrivals(launch.placement, await_shape, session_.stream()));
}

void CoRunners::end() {
  SONDE_CUDA_CHECK(cudaMemsetAsync(session_.arrays().device(stop_), 1, sizeof(std::uint32_t),
                                   session_.stream()));
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
