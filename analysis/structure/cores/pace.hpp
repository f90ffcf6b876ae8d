// What readings of the clocks say of launches and of the pace of the SM clock, and whether cycles
// measured now can be trusted. Input of jobs/cores/launches and jobs/cores/pace.
#pragma once

#include "trace/trace.hpp"

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace sonde {

/// How launches of one stream lie in time, by the device-wide timer.
struct LaunchOrder {
  std::vector<double> gaps_ns;     // from the last end of a launch to the first begin of the next
  std::vector<double> spreads_ns;  // from the first begin of a launch to its last
};
/// @param blocks lanes of a LaunchProbe; those without two readings of the timer are left out
LaunchOrder order_launches(std::span<const LaneTrace> blocks);

/// "serial" if no launch begins before the one before it has ended, "overlapping" if each does;
/// nothing if some do, or there are none. @param step_ns of the timer: less is no overlap
std::optional<std::string> name_order(const LaunchOrder& order, double step_ns);

/// Rate of the SM clock between two readings.
struct PacePoint {
  double time_ns = 0;  // of the earlier one, since the first of all
  double hz = 0;       // median over the lanes
};
/// @param lanes of a PaceProbe: each with as many readings
std::vector<PacePoint> pace_over_time(std::span<const LaneTrace> lanes);

/// The clock from where it is steady on: three points in a row lie within 0.5 % of the median of
/// the second half, and so do nine of ten points from there on.
struct Pace {
  double hz = 0;
  double settle_ns = 0;        // until it was steady; 0: from the first reading on
  double jitter_fraction = 0;  // deviation of its points, relative
  std::uint64_t points = 0;
};
/// Nothing if there are fewer than six points, or the clock did not become steady.
std::optional<Pace> find_pace(std::span<const PacePoint> points);

/// What is known of the clock under which a run measures; 0: not known.
struct ClockState {
  std::uint64_t throttle_reasons = 0;  // seen with any probe so far
  double highest_hz = 0;               // that the driver tells
  double idle_hz = 0;
  std::optional<Pace> under_load;
};
/// Why cycles measured now may not mean what they mean at another time; empty: nothing speaks
/// against it.
std::vector<std::string> doubts_of(const ClockState& state);

}  // namespace sonde
