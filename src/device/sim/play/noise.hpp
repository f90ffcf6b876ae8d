// Turns a true latency into a measured one: adds jitter and rare outliers, rounds to clock steps.
#pragma once

#include "base/random.hpp"
#include "device/sim/model/model.hpp"
#include "trace/trace.hpp"

#include <algorithm>

namespace sonde::sim {

/// Windows are recorded in two bytes (device.hpp).
inline constexpr std::uint32_t longest_window_cycles = 65535;

class Noise {
 public:
  Noise(const Model& model, std::uint64_t seed)
      : random_(seed), model_(model.noise), clock_(model.clock) {}

  /// A duration with jitter and, rarely, an outlier; at least one cycle.
  std::uint32_t disturb(std::uint32_t cycles, double jitter_cycles) {
    std::int64_t result = cycles;
    if (jitter_cycles > 0) result += round_fast(bell() * jitter_cycles);
    if (random_.unit() < model_.outlier_probability) {
      const std::uint64_t range = model_.outlier_max_cycles - model_.outlier_min_cycles + 1;
      result += static_cast<std::int64_t>(model_.outlier_min_cycles + random_.below(range));
    }
    return static_cast<std::uint32_t>(std::max<std::int64_t>(result, 1));
  }

  /// The difference of two clock reads `cycles` apart: the counter moves in steps.
  std::uint32_t read_window(std::uint32_t cycles) {
    const std::uint32_t step = clock_.granularity_cycles;
    if (step == 1) return cycles;
    const auto phase = static_cast<std::uint32_t>(random_.below(step));
    return (phase + cycles) / step * step;
  }

  /// Adds a timed window with a load and its sink to the time of the lane. @return the window
  std::uint32_t time(LaneTrace& lane, std::uint32_t cycles, double jitter_cycles) {
    const std::uint32_t spent = disturb(cycles, jitter_cycles) + clock_.sink_window_cycles;
    lane.elapsed_cycles += spent;
    return std::min(read_window(spent), longest_window_cycles);
  }

  Random& random() { return random_; }

  /// Nearly normal with deviation 1: the sum of four uniform numbers (Irwin-Hall), less its mean
  /// of 2, over its deviation of sqrt(1/3).
  double bell() {
    const std::uint64_t bits = random_();
    const std::uint64_t sum =
        (bits & 0xffff) + (bits >> 16 & 0xffff) + (bits >> 32 & 0xffff) + (bits >> 48);
    return (static_cast<double>(sum) * 0x1.0p-16 - 2) * 1.7320508075688772;
  }

 private:
  /// Rounds a value far above -2^20 to the nearest integer; std::lround is a library call.
  static std::int64_t round_fast(double value) {
    constexpr std::int64_t shift = 1 << 20;
    return static_cast<std::int64_t>(value + (static_cast<double>(shift) + 0.5)) - shift;
  }

  Random random_;
  NoiseModel model_;
  ClockModel clock_;
};

}  // namespace sonde::sim
