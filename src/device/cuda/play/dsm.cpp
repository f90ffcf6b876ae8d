// Distributed shared memory: launches the kernels whose blocks read each other's memory.
#include "kernels/dsm.hpp"
#include "device/cuda/lanes/clusters.hpp"
#include "device/cuda/play/play.hpp"
#include "device/device_error.hpp"

namespace sonde::cuda {
namespace {

Trace play_chase(Session& session, const DsmProbe& probe) {
  const DeviceInfo& info = session.info();
  const auto accesses = static_cast<std::uint32_t>(probe.accesses);
  if (kernels::dsm_chase_bytes(probe.cluster_blocks, accesses) > info.shared_bytes_per_block) {
    throw_device_error(
        "records of {} accesses to each of {} blocks do not fit into shared memory. Ask for fewer",
        probe.accesses, probe.cluster_blocks);
  }
  const Clusters clusters =
      count_clusters(info, address_of(kernels::dsm_chase), probe.cluster_blocks, info.warp_threads);
  const ClusterLanes lanes(session, clusters, probe.cluster_blocks);
  const auto records = session.arrays().add_output<std::uint16_t>(lanes.count() * probe.accesses);
  const auto blocks = static_cast<std::uint64_t>(probe.cluster_blocks);
  kernels::DsmChaseLaunch launch;
  launch.records = records.device;
  launch.accesses = accesses;
  Trace trace = lanes.run(kernels::dsm_chase, launch,
                          limit_for(2 * blocks * blocks * probe.accesses), probe.accesses);
  for (std::size_t i = 0; i < trace.lanes.size(); ++i) {
    const auto own = records.host.subspan(i * probe.accesses, probe.accesses);
    trace.lanes[i].window_cycles.assign(own.begin(), own.end());
  }
  return trace;
}

Trace play_stream(Session& session, const DsmProbe& probe) {
  const DeviceInfo& info = session.info();
  const auto threads = static_cast<unsigned>(probe.block_threads);
  if (probe.block_threads > info.max_threads_per_block ||
      kernels::dsm_stream_bytes(threads) > info.shared_bytes_per_block ||
      probe.accesses % kernels::dsm_ilp != 0) {
    throw_device_error(
        "a stream through distributed shared memory with {} threads and {} accesses is not "
        "possible (at most {} threads, and a multiple of {} accesses). Ask for another",
        probe.block_threads, probe.accesses, info.max_threads_per_block, kernels::dsm_ilp);
  }
  const Clusters clusters = count_clusters(info, address_of(kernels::dsm_stream),
                                           probe.cluster_blocks, probe.block_threads);
  const ClusterLanes lanes(session, clusters);
  // A pass of 64 KiB at 4 bytes a cycle and 1 GHz: several times the longest that was seen.
  constexpr auto pass_limit = std::chrono::microseconds(16);
  const std::uint64_t passes = probe.accesses / kernels::dsm_ilp;
  const bool in_turn = probe.concurrency == Concurrency::in_turn;
  const TimeLimit limit{std::chrono::milliseconds(500) +
                        pass_limit * (passes * (in_turn ? lanes.count() : 1))};
  kernels::DsmStreamLaunch launch;
  launch.distance = static_cast<std::uint32_t>(probe.distance);
  launch.passes = static_cast<std::uint32_t>(passes);
  launch.in_turn = in_turn ? 1 : 0;
  return lanes.run(kernels::dsm_stream, launch, limit, probe.accesses * threads);
}

}  // namespace

Trace play(Session& session, const DsmProbe& probe) {
  return probe.kind == DsmKind::latency ? play_chase(session, probe) : play_stream(session, probe);
}

}  // namespace sonde::cuda
