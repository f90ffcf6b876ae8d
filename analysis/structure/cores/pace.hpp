// Conclusions from clock readings: the order of launches, the rate of the SM clock over time, and
// whether cycles measured now can be trusted. For jobs/cores/launches and jobs/cores/pace.
#pragma once

#include "trace/trace.hpp"

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace sonde {

/// Launches of one stream over time, by the device-wide timer.
struct LaunchOrder {
  std::vector<double> gaps_ns;     // from the last end of a launch to the first begin of the next
  std::vector<double> spreads_ns;  // from the first begin of a launch to its last begin
};
/// @param blocks lanes of a LaunchProbe; lanes without two timer readings are left out
LaunchOrder order_launches(std::span<const LaneTrace> blocks);

/// "serial" if every launch begins after the end of the one before, "overlapping" if none does;
/// nothing if some do, or without launches. @param step_ns of the timer: the least overlap
std::optional<std::string> name_order(const LaunchOrder& order, double step_ns);

/// Rate of the SM clock between two readings.
struct PacePoint {
  double time_ns = 0;  // time of the earlier reading since the first reading
  double hz = 0;       // median over the lanes
};
/// @param lanes of a PaceProbe: all with equally many readings
std::vector<PacePoint> pace_over_time(std::span<const LaneTrace> lanes);

/// The steady clock: it begins with three points in a row within 0.5 % of the median of the second
/// half, and nine of ten points after that are within 0.5 %, too.
struct Pace {
  double hz = 0;
  double settle_ns = 0;        // time until the clock was steady; 0: from the first reading on
  double jitter_fraction = 0;  // relative deviation of the points
  std::uint64_t points = 0;
};
/// Nothing if there are fewer than six points, or if the clock did not become steady.
std::optional<Pace> find_pace(std::span<const PacePoint> points);

/// Knowledge of the clock under which a run measures; 0: unknown.
struct ClockState {
  std::uint64_t throttle_reasons = 0;  // seen with any probe so far
  double highest_hz = 0;               // by the driver
  double idle_hz = 0;
  std::optional<Pace> under_load;
};
/// Reasons why cycles measured now may differ from cycles at another time; empty if there are none.
std::vector<std::string> doubts_of(const ClockState& state);

}  // namespace sonde
