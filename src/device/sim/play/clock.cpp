// Clocks, timestamps, launches in a row and the pace of the SM clocks on a simulated GPU.
#include "device/sim/play/noise.hpp"
#include "device/sim/play/play.hpp"

#include <algorithm>
#include <cmath>

namespace sonde::sim {
namespace {

// Blocks of a launch start within this time of each other.
constexpr double launch_spread_ns = 2000;

// Time between two readings of the timer by a thread that waits.
constexpr double reading_ns = 30;

/// Plays launches one after the other. An SM runs only so many of their blocks at once.
void play_blocks(const Launch& launch, const LaunchProbe& probe, Noise& noise, Trace& trace) {
  const LaunchModel& launches = launch.model.units.launches;
  const auto sms = launch.die.info.sm_count;
  const int at_once = sms * launch.model.units.throughput.max_blocks_per_sm;
  const auto busy_ns = static_cast<double>(probe.busy_ns);
  double begin_ns = launch.now_ns + launches.wait_ns;
  for (int number = 0; number < probe.launches; ++number) {
    double end_ns = begin_ns;
    for (int block = 0; block < probe.blocks; ++block) {
      const int wave = block / at_once;
      const double wave_ns = busy_ns * wave;
      const double from_ns = begin_ns + wave_ns + launches.spread_ns * noise.random().unit();
      const double to_ns = from_ns + busy_ns + reading_ns * noise.random().unit();
      LaneTrace& lane = add_lane(trace, block % sms);
      lane.cluster = number;
      for (double time_ns : {from_ns, to_ns}) {
        lane.globaltimer_ns.push_back(read_timer(launch, time_ns));
        lane.clock_cycles.push_back(read_clock(
            launch, lane.sm, static_cast<std::uint64_t>(time_ns * launch.sm_clock_hz / 1e9)));
      }
      lane.elapsed_cycles = lane.clock_cycles.back() - lane.clock_cycles.front();
      end_ns = std::max(end_ns, to_ns);
    }
    begin_ns = end_ns + launches.gap_ns;
  }
}

/// @return cycles of the SM clock since the launch began, at each multiple of the interval, a few
/// more than the samples
std::vector<double> count_cycles(const Launch& launch, const PaceProbe& probe, Noise& noise) {
  const PaceModel& pace = launch.model.units.pace;
  const auto interval_ns = static_cast<double>(probe.interval_ns);
  const double work = probe.work == SmWork::none ? 1 : pace.load_factor;
  std::vector<double> cycles{0};
  for (std::uint64_t i = 0; i <= probe.samples; ++i) {
    const double middle_ns = launch.now_ns + (static_cast<double>(i) + 0.5) * interval_ns;
    const double warm = pace.ramp_ns > 0 ? std::min(1.0, middle_ns / pace.ramp_ns) : 1;
    const double factor = pace.cold_factor + (1 - pace.cold_factor) * warm;
    const double hz =
        launch.sm_clock_hz * work * factor * (1 + pace.jitter_fraction * noise.bell());
    cycles.push_back(cycles.back() + hz * interval_ns / 1e9);
  }
  return cycles;
}

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
  // A sample reads both clocks and makes two stores.
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

Trace play(const Launch& launch, const LaunchProbe& probe) {
  const LaunchModel& launches = launch.model.units.launches;
  Noise noise(launch.model, launch.seed);
  Trace trace;
  const double kernel_ns = std::max(launches.kernel_ns, static_cast<double>(probe.busy_ns));
  const double device_ns = probe.launches * kernel_ns + (probe.launches - 1) * launches.gap_ns;
  for (int repeat = 0; repeat < probe.repeats; ++repeat) {
    const double late = 1 + launches.scatter_fraction * std::abs(noise.bell());
    trace.repeat_ns.push_back(launches.wait_ns * late + device_ns);
  }
  if (probe.busy_ns > 0) play_blocks(launch, probe, noise, trace);
  return trace;
}

Trace play(const Launch& launch, const PaceProbe& probe) {
  Noise noise(launch.model, launch.seed);
  const std::vector<double> cycles = count_cycles(launch, probe, noise);
  const auto interval_ns = static_cast<double>(probe.interval_ns);
  Trace trace;
  for (int sm : probe.sms) {
    LaneTrace& lane = add_lane(trace, sm);
    const double first_ns =
        std::min(launch.model.units.launches.spread_ns, interval_ns / 2) * noise.random().unit();
    for (std::uint64_t i = 0; i < probe.samples; ++i) {
      const double late_ns = std::min(reading_ns, interval_ns / 2) * noise.random().unit();
      const double time_ns = first_ns + static_cast<double>(i) * interval_ns + late_ns;
      const auto at = static_cast<std::size_t>(time_ns / interval_ns);
      const double share = time_ns / interval_ns - static_cast<double>(at);
      const double since = cycles[at] + share * (cycles[at + 1] - cycles[at]);
      // Cycles before the launch are not exact: only differences are reported.
      const double before = launch.now_ns * launch.sm_clock_hz / 1e9;
      lane.clock_cycles.push_back(
          read_clock(launch, sm, static_cast<std::uint64_t>(before + since)));
      lane.globaltimer_ns.push_back(read_timer(launch, launch.now_ns + time_ns));
    }
    lane.elapsed_cycles = lane.clock_cycles.back() - lane.clock_cycles.front();
  }
  return trace;
}

}  // namespace sonde::sim
