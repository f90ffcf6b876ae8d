// Timed windows without a load, timestamps of all clocks, and cluster launches.
#include "kernels/clocks.hpp"
#include "base/gpu_facts.hpp"
#include "device/cuda/lanes/chase_launch.hpp"
#include "device/cuda/lanes/clusters.hpp"
#include "device/cuda/play/play.hpp"

namespace sonde::cuda {
Trace play(Session& session, const ClockProbe& probe) {
  ChaseProbe chase;  // the same without lists
  for (int sm : probe.sms) chase.lanes.push_back({.sm = sm, .offsets_bytes = {}});
  chase.timed_accesses = chase.recorded_accesses = probe.samples;
  ChaseLaunchPlan plan(session, chase);
  const auto kernel = kernels::find_overhead(
      probe.window == ClockWindow::empty ? kernels::Overhead::empty : kernels::Overhead::sink);
  return plan.run([&](const LaunchShape& shape) { session.launch(kernel, plan.launch(), shape); });
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
  launch.pairs = pairs.device;
  launch.samples = static_cast<std::uint32_t>(probe.samples);
  Trace trace = lanes.run(kernels::timestamps, launch, warp_threads, shared);
  for (std::size_t rank = 0; rank < sms.size(); ++rank) {
    for (const auto& pair : pairs.host.subspan(rank * probe.samples, probe.samples)) {
      trace.lanes[rank].clock_cycles.push_back(pair.clock_cycles);
      trace.lanes[rank].globaltimer_ns.push_back(pair.globaltimer_ns);
    }
  }
  return trace;
}

Trace play(Session& session, const ClusterProbe& probe) {
  const void* kernel = address_of(kernels::clusters);
  const Clusters clusters =
      count_clusters(session.info(), kernel, probe.cluster_blocks, warp_threads);
  LaunchArrays& arrays = session.arrays();
  const auto blocks = arrays.add_output<kernels::ClusterBlock>(clusters.blocks());
  const auto arrived = arrays.add_output<std::uint32_t>(1);
  // A block that never starts must not hold up those that wait for it for longer than this.
  constexpr TimeLimit limit{std::chrono::milliseconds(100)};
  const kernels::ClusterLaunch launch{
      .blocks = blocks.device, .arrived = arrived.device, .limit_ns = limit.kernel_ns()};
  Trace trace;
  trace.shared_carveout_bytes = session.info().largest_carveout_bytes();
  for (int i = 0; i < probe.launches; ++i) {
    session.run(limit, [&] {
      arrays.clear(arrived);
      launch_clusters(session, clusters, kernel, &launch);
    });
    for (const kernels::ClusterBlock& block : blocks.host) {
      LaneTrace& lane = trace.lanes.emplace_back();
      lane.sm = static_cast<int>(block.sm);
      lane.cluster = i * clusters.count + static_cast<int>(block.cluster);
    }
  }
  return trace;
}

}  // namespace sonde::cuda
