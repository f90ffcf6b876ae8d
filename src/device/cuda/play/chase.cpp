// Chases: the lanes of one load path, with co-runners or without, or those of two paths in two
// launches at once.
#include "device/cuda/co_runners.hpp"
#include "device/cuda/path_lanes.hpp"
#include "device/cuda/play/play.hpp"
#include "device/layout/path_parts.hpp"

#include <optional>

namespace sonde::cuda {
namespace {

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

/// One in each stream. Beside a kernel that runs nothing can be loaded, so both are loaded first;
/// and the second one comes when the first one's blocks that hold no SM have left, so that blocks
/// of both never wait for each other's room.
void queue_beside(Session& session, PathLanes& first, PathLanes& second,
                  std::span<const PlacedKernel> kernels) {
  const LaunchShape& first_shape = kernels[0].shape;
  const LaunchShape& second_shape = kernels[1].shape;
  const LaunchShape await_shape{.grid_blocks = 1,
                                .block_threads = 1,
                                .shared_bytes = 0,
                                .carveout_percent = first_shape.carveout_percent};
  first.queue_chase(load_only(first_shape), session.stream());
  second.queue_chase(load_only(second_shape), session.second_stream());
  launch(kernels::await_arrivals, {}, load_only(await_shape), session.second_stream());
  first.queue_before(first_shape);
  second.queue_before(second_shape);
  session.let_second_stream_follow();
  first.queue_chase(first_shape, session.stream());
  launch(kernels::await_arrivals, first.plan().launch().placement, await_shape,
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
