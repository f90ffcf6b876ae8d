// Launches in a row, by the clocks of host and device, and the pace of the SM clocks under load.
#include "kernels/pace.hpp"
#include "base/gpu_facts.hpp"
#include "device/cuda/lanes/lane_launch.hpp"
#include "device/cuda/play/play.hpp"
#include "device/device_error.hpp"

#include <algorithm>

namespace sonde::cuda {
namespace {

using std::chrono::steady_clock;

/// Looks at the stream without a pause until it is empty. What is still there after the limit is
/// left to Session::run, which gives the GPU up.
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

}  // namespace

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
  const auto readings = arrays.add_output<kernels::PaceReading>(probe.sms.size() * probe.samples);
  const auto sink = arrays.add_output<float>(1);
  kernels::PaceLaunch launch;
  launch.readings = readings.device;
  launch.sink = sink.device;
  launch.samples = static_cast<std::uint32_t>(probe.samples);
  launch.interval_ns = probe.interval_ns;
  launch.factor = 0.6180339887f;  // a number with all of its bits at work
  const auto block_threads = probe.work == SmWork::none
                                 ? warp_threads
                                 : static_cast<unsigned>(session.info().max_threads_per_block);
  Trace trace = lanes.run(kernels::pace, launch, block_threads, shared);
  for (std::size_t rank = 0; rank < probe.sms.size(); ++rank) {
    for (const auto& reading : readings.host.subspan(rank * probe.samples, probe.samples)) {
      trace.lanes[rank].clock_cycles.push_back(reading.clock_cycles);
      trace.lanes[rank].globaltimer_ns.push_back(reading.globaltimer_ns);
    }
  }
  return trace;
}

}  // namespace sonde::cuda
