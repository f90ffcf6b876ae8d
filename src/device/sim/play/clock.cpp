// Clock and timestamp probes on a simulated GPU.
#include "device/sim/noise.hpp"
#include "device/sim/play/play.hpp"

#include <cmath>

namespace sonde::sim {
namespace {

// Blocks of a launch start within this time of each other.
constexpr double launch_spread_ns = 2000;

}  // namespace

Trace play(const Launch& launch, const ClockProbe& probe) {
  const ClockModel& clock = launch.model.clock;
  Noise noise(launch.model, launch.seed);
  const std::uint32_t cycles =
      probe.window == ClockWindow::sink ? clock.sink_window_cycles : clock.empty_window_cycles;
  Trace trace;
  for (int sm : probe.sms) {
    LaneTrace& lane = add_lane(trace, sm, probe.samples);
    for (std::uint64_t i = 0; i < probe.samples; ++i) {
      const std::uint32_t duration = noise.disturb(cycles, launch.model.noise.clock_jitter_cycles);
      lane.elapsed_cycles += duration;
      lane.window_cycles.push_back(noise.read_window(duration));
    }
  }
  return trace;
}

Trace play(const Launch& launch, const TimestampProbe& probe) {
  const ClockModel& clock = launch.model.clock;
  Noise noise(launch.model, launch.seed);
  // Both reads and the two stores of a sample.
  const std::uint32_t sample_cycles = clock.empty_window_cycles + clock.sink_window_cycles;
  Trace trace;
  for (int sm : probe.sms) {
    LaneTrace& lane = add_lane(trace, sm, probe.samples);
    double time_ns = launch.now_ns + launch_spread_ns * noise.random().unit();
    for (std::uint64_t i = 0; i < probe.samples; ++i) {
      const auto cycles = static_cast<std::uint64_t>(time_ns * launch.sm_clock_hz / 1e9);
      lane.clock_cycles.push_back(read_clock(launch, sm, cycles));
      lane.globaltimer_ns.push_back(read_timer(launch, time_ns));
      time_ns += noise.disturb(sample_cycles, launch.model.noise.clock_jitter_cycles) * 1e9 /
                 launch.sm_clock_hz;
    }
    lane.elapsed_cycles = lane.clock_cycles.back() - lane.clock_cycles.front();
  }
  return trace;
}

}  // namespace sonde::sim
