// Timed windows without a load, timestamps of all clocks, launches in a row by the clocks of host
// and device, the pace of the SM clocks under load, and cluster launches.
#include "kernels/clocks.hpp"
#include "base/gpu_facts.hpp"
#include "device/cuda/lanes/chase_launch.hpp"
#include "device/cuda/lanes/clusters.hpp"
#include "device/cuda/play/play.hpp"
#include "device/device_error.hpp"
#include "kernels/pace.hpp"

#include <algorithm>
#include <span>

namespace sonde::cuda {
namespace {

using std::chrono::steady_clock;

/// Polls the stream without a pause until it is empty. After the limit it returns: then
/// Session::run gives the GPU up.
void spin_until_empty(const Session& session, TimeLimit limit) {
  const auto begin = steady_clock::now();
  while (cudaStreamQuery(session.stream()) == cudaErrorNotReady) {
    if (steady_clock::now() - begin > limit.kernel) return;
  }
  SONDE_CUDA_CHECK(cudaStreamQuery(session.stream()));
}

/// @param times null: the kernels are empty
void queue_launches(const Session& session, const LaunchProbe& probe, kernels::BlockTimes* times) {
  const auto blocks = static_cast<unsigned>(probe.blocks);
  for (int launch = 0; launch < probe.launches; ++launch) {
    if (times == nullptr) {
      SONDE_CUDA_CHECK(kernels::launch_empty(blocks, session.stream()));
      continue;
    }
    SONDE_CUDA_CHECK(
        kernels::launch_busy(times + static_cast<std::ptrdiff_t>(launch) * probe.blocks,
                             probe.busy_ns, blocks, session.stream()));
  }
}

LaneTrace read_block(const kernels::BlockTimes& times, int launch) {
  if (times.ran != 1) {
    throw_device_error("a block of a launch did not run (its times are missing). Look at dmesg");
  }
  LaneTrace lane;
  lane.sm = static_cast<int>(times.sm);
  lane.cluster = launch;
  lane.clock_cycles = {times.begin_cycles, times.end_cycles};
  lane.globaltimer_ns = {times.begin_ns, times.end_ns};
  lane.elapsed_cycles = times.end_cycles - times.begin_cycles;
  return lane;
}

/// Adds the readings of the SM clock and the timer to the lane of each rank.
void add_readings(std::span<const kernels::ClockReading> readings, std::uint64_t samples,
                  Trace& trace) {
  for (std::size_t at = 0; at < readings.size(); ++at) {
    LaneTrace& lane = trace.lanes[at / samples];
    lane.clock_cycles.push_back(readings[at].clock_cycles);
    lane.globaltimer_ns.push_back(readings[at].globaltimer_ns);
  }
}

}  // namespace

Trace play(Session& session, const ClockProbe& probe) {
  ChaseProbe chase;  // a chase without lists
  for (int sm : probe.sms) chase.lanes.push_back({.sm = sm, .offsets_bytes = {}});
  chase.timed_accesses = chase.recorded_accesses = probe.samples;
  ChaseLaunchPlan plan(session, chase);
  const auto kernel = kernels::find_overhead(as_kernel<kernels::Overhead>(probe.window));
  return plan.run([&](const LaunchShape& shape) { session.launch(kernel, plan.launch(), shape); });
}

Trace play(Session& session, const TimestampProbe& probe) {
  const layout::SharedPlan shared =
      layout::plan_shared(session.info(), probe.samples * sizeof(kernels::ClockReading));
  const std::vector<int> sms = rank_sms(probe.sms).sms;
  LaneLaunch lanes(session, {.sms = sms, .recorded = 0, .accesses = probe.samples},
                   limit_for(probe.samples));
  const auto pairs = session.arrays().add_output<kernels::ClockReading>(sms.size() * probe.samples);
  kernels::TimestampLaunch launch;
  launch.pairs = pairs.device;
  launch.samples = static_cast<std::uint32_t>(probe.samples);
  Trace trace = lanes.run(kernels::timestamps, launch, warp_threads, shared);
  add_readings(pairs.host, probe.samples, trace);
  return trace;
}

Trace play(Session& session, const ClusterProbe& probe) {
  const void* kernel = address_of(kernels::clusters);
  const Clusters clusters =
      count_clusters(session.info(), kernel, probe.cluster_blocks, warp_threads);
  LaunchArrays& arrays = session.arrays();
  const auto blocks = arrays.add_output<kernels::ClusterBlock>(clusters.blocks());
  const auto arrived = arrays.add_output<std::uint32_t>(1);
  // Blocks wait for each other, but no longer than this for a block that never starts.
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

Trace play(Session& session, const LaunchProbe& probe) {
  const auto count = probe.busy_ns == 0 ? 0
                                        : static_cast<std::uint64_t>(probe.launches) *
                                              static_cast<std::uint64_t>(probe.blocks);
  LaunchArrays& arrays = session.arrays();
  const auto times = arrays.add_output<kernels::BlockTimes>(count);
  // An SM takes 32 blocks at once: more of them come one after the other.
  const auto waves = 1 + static_cast<std::uint64_t>(probe.blocks / session.info().sm_count);
  const TimeLimit limit{
      std::chrono::seconds(1) +
      std::chrono::nanoseconds(4 * waves * static_cast<std::uint64_t>(probe.launches) *
                               probe.busy_ns)};
  Trace trace;
  session.run(limit, [&] {
    if (count > 0) arrays.clear(times);
    kernels::BlockTimes* where = count == 0 ? nullptr : times.device;
    queue_launches(session, probe, where);  // loads the kernel's code; not counted
    spin_until_empty(session, limit);
    for (int repeat = 0; repeat < probe.repeats; ++repeat) {
      const auto begin = steady_clock::now();
      queue_launches(session, probe, where);
      spin_until_empty(session, limit);
      trace.repeat_ns.push_back(
          std::chrono::duration<double, std::nano>(steady_clock::now() - begin).count());
    }
  });
  int number = 0;
  for (const kernels::BlockTimes& block : times.host) {
    trace.lanes.push_back(read_block(block, number++ / probe.blocks));
  }
  return trace;
}

Trace play(Session& session, const PaceProbe& probe) {
  const layout::SharedPlan shared = layout::plan_shared(session.info(), kernels::pace_shared_bytes);
  const TimeLimit limit{std::chrono::seconds(1) +
                        std::chrono::nanoseconds(2 * probe.samples * probe.interval_ns)};
  LaneLaunch lanes(session, {.sms = probe.sms, .recorded = 0, .accesses = 0}, limit);
  LaunchArrays& arrays = session.arrays();
  const auto readings = arrays.add_output<kernels::ClockReading>(probe.sms.size() * probe.samples);
  const auto sink = arrays.add_output<float>(1);
  kernels::PaceLaunch launch;
  launch.readings = readings.device;
  launch.sink = sink.device;
  launch.samples = static_cast<std::uint32_t>(probe.samples);
  launch.interval_ns = probe.interval_ns;
  launch.factor = 0.6180339887f;  // a number that uses all bits of its mantissa
  const auto block_threads = probe.work == SmWork::none
                                 ? warp_threads
                                 : static_cast<unsigned>(session.info().max_threads_per_block);
  Trace trace = lanes.run(kernels::pace, launch, block_threads, shared);
  add_readings(readings.host, probe.samples, trace);
  return trace;
}

}  // namespace sonde::cuda
