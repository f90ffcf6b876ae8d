// Timed windows without a load, timestamps of all clocks, and cluster launches.
#include "kernels/clocks.hpp"
#include "base/gpu_facts.hpp"
#include "device/cuda/chase_launch.hpp"
#include "device/cuda/clusters.hpp"
#include "device/cuda/play/play.hpp"

namespace sonde::cuda {
Trace play(Session& session, const ClockProbe& probe) {
  ChaseProbe chase;  // the same without lists
  for (int sm : probe.sms) chase.lanes.push_back({.sm = sm, .offsets_bytes = {}});
  chase.timed_accesses = chase.recorded_accesses = probe.samples;
  ChaseLaunchPlan plan(session, chase);
  plan.fill();
  const auto overhead =
      probe.window == ClockWindow::empty ? kernels::Overhead::empty : kernels::Overhead::sink;
  return plan.run([&](const kernels::LaunchShape& shape) {
    SONDE_CUDA_CHECK(kernels::launch_overhead(plan.launch(), overhead, shape, session.stream()));
  });
}

Trace play(Session& session, const TimestampProbe& probe) {
  const layout::SharedPlan shared =
      layout::plan_shared(session.info(), probe.samples * sizeof(kernels::TimestampPair));
  const std::vector<int> sms = rank_sms(probe.sms).sms;
  LaneLaunch lanes(session, {.sms = sms, .recorded = 0, .accesses = probe.samples},
                   limit_for(probe.samples));
  const auto pairs =
      session.arrays().add_output<kernels::TimestampPair>(sms.size() * probe.samples);
  kernels::TimestampLaunch launch;
  lanes.describe(launch);
  launch.pairs = session.arrays().device(pairs);
  launch.samples = static_cast<std::uint32_t>(probe.samples);
  Trace trace = lanes.run(warp_threads, shared, [&](const kernels::LaunchShape& shape) {
    SONDE_CUDA_CHECK(kernels::launch_timestamps(launch, shape, session.stream()));
  });
  for (std::size_t rank = 0; rank < sms.size(); ++rank) {
    for (const auto& pair :
         session.arrays().host(pairs).subspan(rank * probe.samples, probe.samples)) {
      trace.lanes[rank].clock_cycles.push_back(pair.clock_cycles);
      trace.lanes[rank].globaltimer_ns.push_back(pair.globaltimer_ns);
    }
  }
  return trace;
}

Trace play(Session& session, const ClusterProbe& probe) {
  const DeviceInfo& info = session.info();
  const kernels::ClusterShape shape = lone_blocks(info, probe.cluster_blocks, warp_threads);
  const int clusters = count_clusters(info, shape, kernels::max_active_clusters);
  LaunchArrays& arrays = session.arrays();
  const auto count =
      static_cast<std::uint64_t>(clusters) * static_cast<std::uint64_t>(probe.cluster_blocks);
  const auto blocks = arrays.add_output<kernels::ClusterBlock>(count);
  const auto arrived = arrays.add_output<std::uint32_t>(1);
  // A block that never starts must not hold up those that wait for it for longer than this.
  constexpr TimeLimit limit{std::chrono::milliseconds(100)};
  const kernels::ClusterLaunch launch{.blocks = arrays.device(blocks),
                                      .arrived = arrays.device(arrived),
                                      .limit_ns = limit.kernel_ns()};
  Trace trace;
  trace.shared_carveout_bytes = info.largest_carveout_bytes();
  for (int i = 0; i < probe.launches; ++i) {
    session.run(limit, [&] {
      arrays.clear(arrived);
      SONDE_CUDA_CHECK(kernels::launch_clusters(launch, shape, clusters, session.stream()));
    });
    for (const kernels::ClusterBlock& block : arrays.host(blocks)) {
      LaneTrace& lane = trace.lanes.emplace_back();
      lane.sm = static_cast<int>(block.sm);
      lane.cluster = i * clusters + static_cast<int>(block.cluster);
    }
  }
  return trace;
}

}  // namespace sonde::cuda
