// Chases: lanes of one load path, with or without co-runners, or lanes of two load paths in two
// launches at once.

#include "device/cuda/lanes/path_lanes.hpp"
#include "device/cuda/lanes/placed_launch.hpp"
#include "device/cuda/play/play.hpp"
#include "device/device_error.hpp"
#include "device/layout/path_parts.hpp"
#include "device/layout/place.hpp"
#include "kernels/co_runners.hpp"

#include <algorithm>
#include <functional>
#include <optional>

namespace sonde::cuda {
namespace {

// Two streams wait for each other by events; a word in memory ends the co-runners.

/// Queues one kernel in the session's stream or, if the shape has no blocks, loads it.
using QueueLaunch = std::function<void(const LaunchShape& shape)>;

std::vector<int> sms_of(const std::vector<CoRunner>& runners) {
  std::vector<int> sms;
  for (const CoRunner& runner : runners) sms.push_back(runner.sm);
  return sms;
}

constexpr int carveout_percent = 100;

/// Half of the shared memory, and the part that the driver reserves: an SM holds one block, and has
/// room for the kernel that waits for them.
LaunchShape shape_on(const DeviceInfo& info) {
  const std::uint64_t half = info.shared_bytes_per_sm / 2;
  return {.grid_blocks = static_cast<unsigned>(info.sm_count),
          .block_threads = kernels::co_runner_threads,
          .shared_bytes = static_cast<unsigned>(std::min(half, info.shared_bytes_per_block)),
          .carveout_percent = carveout_percent};
}

constexpr LaunchShape await_shape{
    .grid_blocks = 1, .block_threads = 1, .shared_bytes = 0, .carveout_percent = carveout_percent};

class CoRunners {
 public:
  /// Adds its arrays to those of the session.
  /// @throws DeviceError if the path has no addresses that reductions could be made on
  CoRunners(Session& session, const ChaseProbe& probe, const PathLanes& lanes)
      : session_(session),
        runners_(probe.co_runners),
        // Twice the time of the lanes, which run between begin() and end().
        placed_(session, sms_of(probe.co_runners), {2 * limit_of(probe).kernel}),
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

  /// Queues the co-runners after all work so far, the chase, which begins when they run, and their
  /// end. Later work waits for that end.
  void run_beside(const LaunchShape& shape, const QueueLaunch& chase) {
    // Kernels are loaded first: beside co-runners loading would wait for their end.
    chase(load_only(shape));
    session_.launch(kernels::await_arrivals, {}, load_only(await_shape));
    begin();
    chase(shape);
    end();
  }

  /// @throws DeviceError if a co-runner did not get its SM
  void check() const {
    if (placed_.claimed() == runners_.size()) return;
    throw_device_error(
        "only {} of {} co-runners got their SM (the others made no reductions). Look for other "
        "processes on the GPU",
        placed_.claimed(), runners_.size());
  }

 private:
  void begin() {
    placed_.clear_state();
    session_.arrays().clear(stop_);
    session_.let_second_stream_follow();
    const kernels::CoRunnerLaunch co_runners{
        .placement = placed_.placement(), .lines = lines_.device, .stop = stop_.device};
    launch(kernels::co_runners, co_runners, shape_on(session_.info()), session_.second_stream());
    session_.launch(kernels::await_arrivals, co_runners.placement, await_shape);
  }
  void end() {
    SONDE_CUDA_CHECK(cudaMemsetAsync(stop_.device, 1, sizeof(std::uint32_t), session_.stream()));
    session_.follow_second_stream();
  }

  Session& session_;
  const std::vector<CoRunner>& runners_;
  PlacedLaunch placed_;
  Input<std::uint64_t> lines_;
  Output<std::uint32_t> stop_;
};

std::unique_ptr<PathLanes> make_lanes(Session& session, const ChaseProbe& probe) {
  return probe.lanes.front().path == LoadPath::instruction ? make_code_lanes(session, probe)
                                                           : make_data_lanes(session, probe);
}

Trace play_one_path(Session& session, const ChaseProbe& probe) {
  const auto lanes = make_lanes(session, probe);
  std::optional<CoRunners> co_runners;
  if (!probe.co_runners.empty()) co_runners.emplace(session, probe, *lanes);
  const Trace trace = lanes->plan().run([&](const LaunchShape& shape) {
    lanes->queue_before(shape);
    const auto queue_chase = [&](const LaunchShape& chase_shape) {
      lanes->queue_chase(chase_shape, session.stream());
    };
    if (co_runners) return co_runners->run_beside(shape, queue_chase);
    queue_chase(shape);
  });
  if (co_runners) co_runners->check();
  lanes->check();
  return trace;
}

/// Queues one launch in each stream. Both kernels are loaded first, as loading waits for running
/// kernels. The second kernel begins when the first one's blocks that hold no SM have left, so that
/// blocks of both never wait for each other's room.
void queue_beside(Session& session, PathLanes& first, PathLanes& second,
                  std::span<const PlacedKernel> kernels) {
  const LaunchShape& first_shape = kernels[0].shape;
  const LaunchShape& second_shape = kernels[1].shape;
  const LaunchShape arrival_shape{.grid_blocks = 1,
                                  .block_threads = 1,
                                  .shared_bytes = 0,
                                  .carveout_percent = first_shape.carveout_percent};
  first.queue_chase(load_only(first_shape), session.stream());
  second.queue_chase(load_only(second_shape), session.second_stream());
  launch(kernels::await_arrivals, {}, load_only(arrival_shape), session.second_stream());
  first.queue_before(first_shape);
  second.queue_before(second_shape);
  session.let_second_stream_follow();
  first.queue_chase(first_shape, session.stream());
  launch(kernels::await_arrivals, first.plan().launch().placement, arrival_shape,
         session.second_stream());
  second.queue_chase(second_shape, session.second_stream());
  session.follow_second_stream();
}

Trace play_two_paths(Session& session, const ChaseProbe& probe) {
  const std::vector<layout::PathPart> parts = layout::split_by_path(probe);
  const auto first = make_lanes(session, parts[0].probe);
  const auto second = make_lanes(session, parts[1].probe);
  const std::vector<Trace> traces = ChaseLaunchPlan::run_together(
      {&first->plan(), &second->plan()}, [&](std::span<const PlacedKernel> kernels) {
        queue_beside(session, *first, *second, kernels);
      });
  first->check();
  second->check();
  Trace trace;
  trace.shared_carveout_bytes = traces.front().shared_carveout_bytes;
  trace.lanes.resize(probe.lanes.size());
  for (std::size_t part = 0; part < parts.size(); ++part) {
    for (std::size_t lane = 0; lane < parts[part].lanes.size(); ++lane) {
      trace.lanes[parts[part].lanes[lane]] = traces[part].lanes[lane];
    }
  }
  return trace;
}

}  // namespace

Trace play(Session& session, const ChaseProbe& probe) {
  return common_path(probe) ? play_one_path(session, probe) : play_two_paths(session, probe);
}

}  // namespace sonde::cuda
