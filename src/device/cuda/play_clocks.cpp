// Clock windows without a load, timestamps of all clocks, and cluster launches.
#include "base/error.hpp"
#include "device/cuda/chase_launch.hpp"
#include "device/cuda/players.hpp"
#include "kernels/clocks.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace sonde::cuda {

Trace play_clock(Session& session, const ClockProbe& probe) {
  LaneWork work;
  work.lane_sms = probe.sms;
  work.timed = probe.samples;
  work.recorded = probe.samples;
  ChaseLaunchPlan plan(session, work);
  plan.commit();
  const auto overhead =
      probe.window == ClockWindow::empty ? kernels::Overhead::empty : kernels::Overhead::sink;
  plan.run([] {},
           [&](const kernels::ChaseLaunch& launch, const kernels::LaunchShape& shape) {
             return kernels::launch_overhead(launch, overhead, shape, session.stream());
           });
  return plan.trace();
}

Trace play_timestamps(Session& session, const TimestampProbe& probe) {
  session.inputs.clear_layout();
  session.outputs.clear_layout();
  const SharedPlan shared =
      plan_shared(session.info(), probe.samples * sizeof(kernels::TimestampPair));
  PlacedLaunch placed(session, rank_sms(probe.sms).sms, limit_for(probe.samples));
  const std::vector<int>& sms = placed.sms();
  const auto results = session.outputs.add<kernels::LaneResult>(sms.size());
  const auto pairs = session.outputs.add<kernels::TimestampPair>(sms.size() * probe.samples);
  session.inputs.commit();
  session.outputs.commit();
  kernels::TimestampLaunch launch;
  launch.placement = placed.placement();
  launch.results = session.outputs.device(results);
  launch.pairs = session.outputs.device(pairs);
  launch.samples = static_cast<std::uint32_t>(probe.samples);
  placed.run(
      {0, 32, shared.dynamic_bytes, shared.carveout_percent},
      [&] { session.outputs.fill_device(results, 0, session.stream()); },
      [&](const kernels::LaunchShape& shape) {
        return kernels::launch_timestamps(launch, shape, session.stream());
      });
  Trace trace;
  trace.shared_carveout_bytes = shared.carveout_bytes;
  for (std::size_t rank = 0; rank < sms.size(); ++rank) {
    const kernels::LaneResult& result = session.outputs.host(results)[rank];
    check_lane(result, sms[rank]);
    LaneTrace lane;
    lane.sm = sms[rank];
    lane.elapsed_cycles = result.elapsed_cycles;
    lane.accesses = probe.samples;
    for (const auto& pair :
         session.outputs.host(pairs).subspan(rank * probe.samples, probe.samples)) {
      lane.clock_cycles.push_back(pair.clock_cycles);
      lane.globaltimer_ns.push_back(pair.globaltimer_ns);
    }
    trace.lanes.push_back(std::move(lane));
  }
  return trace;
}

Trace play_clusters(Session& session, const ClusterProbe& probe) {
  const DeviceInfo& info = session.info();
  if (probe.cluster_blocks > info.max_cluster_blocks) {
    throw DeviceError(
        fmt::format("clusters of {} blocks do not exist on this GPU (at most {}). "
                    "Ask for smaller ones",
                    probe.cluster_blocks, info.max_cluster_blocks));
  }
  // More than half of the shared memory: no SM can hold two such blocks.
  const auto shared_bytes = static_cast<unsigned>(info.shared_bytes_per_block);
  int clusters = 0;
  SONDE_CUDA_CHECK(kernels::max_active_clusters(probe.cluster_blocks, shared_bytes, &clusters));
  if (clusters == 0) {
    throw DeviceError(
        fmt::format("no cluster of {} blocks fits on this GPU (no GPC has so many "
                    "SMs). Ask for smaller ones",
                    probe.cluster_blocks));
  }
  session.inputs.clear_layout();
  session.outputs.clear_layout();
  const auto count = static_cast<std::uint64_t>(clusters * probe.cluster_blocks);
  const auto blocks = session.outputs.add<kernels::ClusterBlock>(count);
  const auto arrived = session.outputs.add<std::uint32_t>(1);
  session.outputs.commit();
  Trace trace;
  trace.shared_carveout_bytes =
      info.shared_carveouts_bytes.empty() ? 0 : info.shared_carveouts_bytes.back();
  // A block that never starts must not hold up those that wait for it for longer than this.
  constexpr TimeLimit limit{std::chrono::milliseconds(100)};
  for (int i = 0; i < probe.launches; ++i) {
    session.outputs.fill_device(arrived, 0, session.stream());
    const kernels::ClusterLaunch launch{session.outputs.device(blocks),
                                        session.outputs.device(arrived),
                                        static_cast<std::uint64_t>(limit.kernel.count())};
    SONDE_CUDA_CHECK(kernels::launch_clusters(launch, probe.cluster_blocks, clusters, shared_bytes,
                                              session.stream()));
    session.outputs.download(session.stream());
    session.wait(limit.host());
    for (const kernels::ClusterBlock& block : session.outputs.host(blocks)) {
      LaneTrace lane;
      lane.sm = static_cast<int>(block.sm);
      lane.cluster = i * clusters + static_cast<int>(block.cluster);
      trace.lanes.push_back(std::move(lane));
    }
  }
  return trace;
}

}  // namespace sonde::cuda
