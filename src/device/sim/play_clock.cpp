// Clock and timestamp probes on a simulated GPU.
#include "device/sim/play_clock.hpp"

#include <cmath>

namespace sonde::sim {
namespace {

// Blocks of a launch start within this time of each other.
constexpr double launch_spread_ns = 2000;
// The device-wide timer starts from the host's time; any value far from 0 will do.
constexpr std::uint64_t globaltimer_epoch_ns = 1'700'000'000'000'000'000ULL;

}  // namespace

Trace play_clock(const Model& model, const ClockProbe& probe, std::uint64_t seed) {
  Noise noise(model, seed);
  const std::uint32_t cycles = probe.window == ClockWindow::sink ? model.clock.sink_window_cycles
                                                                 : model.clock.empty_window_cycles;
  Trace trace;
  for (int sm : probe.sms) {
    LaneTrace& lane = trace.lanes.emplace_back();
    lane.sm = sm;
    lane.accesses = probe.samples;
    for (std::uint64_t i = 0; i < probe.samples; ++i) {
      const std::uint32_t duration = noise.disturb(cycles, model.noise.clock_jitter_cycles);
      lane.elapsed_cycles += duration;
      lane.window_cycles.push_back(noise.read_window(duration));
    }
  }
  return trace;
}

Trace play_timestamps(const Model& model, const Die& die, const TimestampProbe& probe,
                      double sm_clock_hz, double now_ns, std::uint64_t seed) {
  Noise noise(model, seed);
  const std::uint64_t step_ns = model.clock.globaltimer_step_ns;
  const std::uint64_t granularity_cycles = model.clock.granularity_cycles;
  // Both reads and the two stores of a sample.
  const std::uint32_t sample_cycles =
      model.clock.empty_window_cycles + model.clock.sink_window_cycles;
  Trace trace;
  for (int sm : probe.sms) {
    LaneTrace& lane = trace.lanes.emplace_back();
    lane.sm = sm;
    lane.accesses = probe.samples;
    double time_ns = now_ns + launch_spread_ns * noise.random().unit();
    for (std::uint64_t i = 0; i < probe.samples; ++i) {
      const std::uint64_t clock = die.clock_base_cycles[static_cast<std::size_t>(sm)] +
                                  static_cast<std::uint64_t>(time_ns * sm_clock_hz / 1e9);
      lane.clock_cycles.push_back(clock / granularity_cycles * granularity_cycles);
      lane.globaltimer_ns.push_back(globaltimer_epoch_ns +
                                    static_cast<std::uint64_t>(time_ns) / step_ns * step_ns);
      time_ns += noise.disturb(sample_cycles, model.noise.clock_jitter_cycles) * 1e9 / sm_clock_hz;
    }
    lane.elapsed_cycles = lane.clock_cycles.back() - lane.clock_cycles.front();
  }
  return trace;
}

}  // namespace sonde::sim
