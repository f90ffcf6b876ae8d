// Distributed shared memory: which blocks read whose, laid out for the kernels and read back.
#include "kernels/dsm.hpp"
#include "device/cuda/clusters.hpp"
#include "device/cuda/lane_launch.hpp"
#include "device/cuda/play/play.hpp"
#include "device/device_error.hpp"

namespace sonde::cuda {
namespace {

using kernels::ClusterShape;
using kernels::LaneResult;

/// Lanes of a launch, as many for each block.
class DsmLanes {
 public:
  /// Adds its arrays to those of the session.
  DsmLanes(Session& session, const ClusterShape& shape, int clusters, int lanes_per_block)
      : session_(session),
        lanes_per_cluster_(static_cast<std::uint64_t>(shape.cluster_blocks) *
                           static_cast<std::uint64_t>(lanes_per_block)),
        state_(session.arrays().add_output<kernels::PlacementState>(1)),
        results_(session.arrays().add_output<LaneResult>(static_cast<std::uint64_t>(clusters) *
                                                         lanes_per_cluster_)) {}

  kernels::DsmLaunch describe(TimeLimit limit) const {
    return {.state = session_.arrays().device(state_),
            .results = session_.arrays().device(results_),
            .limit_ns = limit.kernel_ns()};
  }

  /// @param queue queues the kernel
  /// @param accesses of each lane
  /// @throws DeviceError if a lane did not run to its end, or read what nobody wrote
  Trace run(TimeLimit limit, std::uint64_t accesses, const std::function<void()>& queue) const {
    session_.run(limit, [&] {
      session_.arrays().clear(state_);
      session_.arrays().clear(results_);
      queue();
    });
    Trace trace;
    trace.shared_carveout_bytes = session_.info().largest_carveout_bytes();
    const auto results = session_.arrays().host(results_);
    for (std::size_t i = 0; i < results.size(); ++i) {
      const int sm = static_cast<int>(results[i].sm);
      check_lane(results[i], sm);
      check_value(results[i], 0, i);
      LaneTrace& lane = trace.lanes.emplace_back();
      lane.sm = sm;
      lane.cluster = static_cast<int>(i / lanes_per_cluster_);
      lane.elapsed_cycles = results[i].elapsed_cycles;
      lane.accesses = accesses;
    }
    return trace;
  }

  std::uint64_t count() const { return results_.count; }

 private:
  Session& session_;
  std::uint64_t lanes_per_cluster_;
  Output<kernels::PlacementState> state_;
  Output<LaneResult> results_;
};

Trace play_chase(Session& session, const DsmProbe& probe) {
  const DeviceInfo& info = session.info();
  const ClusterShape shape = lone_blocks(info, probe.cluster_blocks, info.warp_threads);
  const auto accesses = static_cast<std::uint32_t>(probe.accesses);
  if (kernels::dsm_chase_bytes(probe.cluster_blocks, accesses) > shape.shared_bytes) {
    throw_device_error(
        "records of {} accesses to each of {} blocks do not fit into shared memory. Ask for fewer",
        probe.accesses, probe.cluster_blocks);
  }
  const int clusters = count_clusters(info, shape, kernels::max_active_dsm_chases);
  const DsmLanes lanes(session, shape, clusters, probe.cluster_blocks);
  const auto records = session.arrays().add_output<std::uint16_t>(lanes.count() * probe.accesses);
  const auto blocks = static_cast<std::uint64_t>(probe.cluster_blocks);
  const TimeLimit limit = limit_for(2 * blocks * blocks * probe.accesses);
  kernels::DsmChaseLaunch launch;
  launch.common = lanes.describe(limit);
  launch.records = session.arrays().device(records);
  launch.accesses = accesses;
  Trace trace = lanes.run(limit, probe.accesses, [&] {
    SONDE_CUDA_CHECK(kernels::launch_dsm_chases(launch, shape, clusters, session.stream()));
  });
  const auto windows = session.arrays().host(records);
  for (std::size_t i = 0; i < trace.lanes.size(); ++i) {
    const auto own = windows.subspan(i * probe.accesses, probe.accesses);
    trace.lanes[i].window_cycles.assign(own.begin(), own.end());
  }
  return trace;
}

Trace play_stream(Session& session, const DsmProbe& probe) {
  const DeviceInfo& info = session.info();
  const ClusterShape shape = lone_blocks(info, probe.cluster_blocks, probe.block_threads);
  if (probe.block_threads > info.max_threads_per_block ||
      kernels::dsm_stream_bytes(shape.block_threads) > shape.shared_bytes ||
      probe.accesses % kernels::dsm_ilp != 0) {
    throw_device_error(
        "a stream through distributed shared memory with {} threads and {} accesses is not "
        "possible (at most {} threads, and a multiple of {} accesses). Ask for another",
        probe.block_threads, probe.accesses, info.max_threads_per_block, kernels::dsm_ilp);
  }
  const int clusters = count_clusters(info, shape, kernels::max_active_dsm_streams);
  const DsmLanes lanes(session, shape, clusters, 1);
  // A pass of 64 KiB at 4 bytes a cycle and 1 GHz: some times what was ever seen.
  constexpr auto pass_limit = std::chrono::microseconds(16);
  const std::uint64_t passes = probe.accesses / kernels::dsm_ilp;
  const bool in_turn = probe.concurrency == Concurrency::in_turn;
  const TimeLimit limit{std::chrono::milliseconds(500) +
                        pass_limit * (passes * (in_turn ? lanes.count() : 1))};
  kernels::DsmStreamLaunch launch;
  launch.common = lanes.describe(limit);
  launch.distance = static_cast<std::uint32_t>(probe.distance);
  launch.passes = static_cast<std::uint32_t>(passes);
  launch.in_turn = in_turn ? 1 : 0;
  return lanes.run(limit, probe.accesses * static_cast<std::uint64_t>(probe.block_threads), [&] {
    SONDE_CUDA_CHECK(kernels::launch_dsm_streams(launch, shape, clusters, session.stream()));
  });
}

}  // namespace

Trace play(Session& session, const DsmProbe& probe) {
  return probe.kind == DsmKind::latency ? play_chase(session, probe) : play_stream(session, probe);
}

}  // namespace sonde::cuda
