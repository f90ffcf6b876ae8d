// Sorts readings by launch and by time. The thresholds come from the clocks of GPUs in service.
#include "analysis/structure/cores/pace.hpp"

#include "analysis/statistics.hpp"
#include "trace/inventory.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>

namespace sonde {
namespace {

constexpr double steady_tolerance = 0.005;
constexpr std::size_t steady_run = 3;
constexpr double steady_share = 0.9;
constexpr std::size_t fewest_points = 6;
/// GPUs in service kept 0.79 to 1 of their highest clock; those that hold it are within a percent.
constexpr double least_share_of_highest = 0.9;
/// Devices are compared to 3 %: a smaller change of the clock does not show.
constexpr double most_change_by_load = 0.02;

/// Begin and end of a launch over all of its blocks.
struct LaunchSpan {
  std::uint64_t first_begin_ns = UINT64_MAX;
  std::uint64_t last_begin_ns = 0;
  std::uint64_t last_end_ns = 0;
};

double difference(std::uint64_t later, std::uint64_t earlier) {
  return static_cast<double>(static_cast<std::int64_t>(later - earlier));
}

bool is_steady(const PacePoint& point, double hz) {
  return std::abs(point.hz - hz) <= steady_tolerance * hz;
}

/// Index of the first point of a steady run; the number of points if there is none.
std::size_t find_steady_run(std::span<const PacePoint> points, double hz) {
  for (std::size_t first = 0; first + steady_run <= points.size(); ++first) {
    const auto run = points.subspan(first, steady_run);
    if (std::ranges::all_of(run, [hz](const PacePoint& point) { return is_steady(point, hz); })) {
      return first;
    }
  }
  return points.size();
}

std::vector<double> rates_of(std::span<const PacePoint> points) {
  std::vector<double> rates;
  for (const PacePoint& point : points) rates.push_back(point.hz);
  return rates;
}

}  // namespace

LaunchOrder order_launches(std::span<const LaneTrace> blocks) {
  std::map<int, LaunchSpan> spans;
  for (const LaneTrace& block : blocks) {
    if (block.globaltimer_ns.size() < 2) continue;
    LaunchSpan& span = spans[block.cluster];
    span.first_begin_ns = std::min(span.first_begin_ns, block.globaltimer_ns.front());
    span.last_begin_ns = std::max(span.last_begin_ns, block.globaltimer_ns.front());
    span.last_end_ns = std::max(span.last_end_ns, block.globaltimer_ns.back());
  }
  LaunchOrder order;
  const LaunchSpan* before = nullptr;
  for (const auto& [number, span] : spans) {
    order.spreads_ns.push_back(difference(span.last_begin_ns, span.first_begin_ns));
    if (before != nullptr) {
      order.gaps_ns.push_back(difference(span.first_begin_ns, before->last_end_ns));
    }
    before = &span;
  }
  return order;
}

std::optional<std::string> name_order(const LaunchOrder& order, double step_ns) {
  if (order.gaps_ns.empty()) return std::nullopt;
  const auto waits =
      std::ranges::count_if(order.gaps_ns, [step_ns](double gap_ns) { return gap_ns >= -step_ns; });
  if (waits == std::ssize(order.gaps_ns)) return "serial";
  return waits == 0 ? std::optional<std::string>("overlapping") : std::nullopt;
}

std::vector<PacePoint> pace_over_time(std::span<const LaneTrace> lanes) {
  std::size_t readings = lanes.empty() ? 0 : SIZE_MAX;
  for (const LaneTrace& lane : lanes) {
    readings = std::min({readings, lane.clock_cycles.size(), lane.globaltimer_ns.size()});
  }
  std::vector<PacePoint> points;
  for (std::size_t i = 1; i < readings; ++i) {
    std::vector<double> rates, times;
    for (const LaneTrace& lane : lanes) {
      const double passed_ns = difference(lane.globaltimer_ns[i], lane.globaltimer_ns[i - 1]);
      if (!(passed_ns > 0)) continue;
      rates.push_back(difference(lane.clock_cycles[i], lane.clock_cycles[i - 1]) / passed_ns * 1e9);
      times.push_back(difference(lane.globaltimer_ns[i - 1], lane.globaltimer_ns.front()));
    }
    if (rates.empty()) continue;
    points.push_back({.time_ns = median(std::move(times)), .hz = median(std::move(rates))});
  }
  return points;
}

std::optional<Pace> find_pace(std::span<const PacePoint> points) {
  if (points.size() < fewest_points) return std::nullopt;
  const double hz = median(rates_of(points.subspan(points.size() / 2)));
  const auto steady = points.subspan(find_steady_run(points, hz));
  if (steady.empty()) return std::nullopt;
  const auto kept =
      std::ranges::count_if(steady, [hz](const PacePoint& point) { return is_steady(point, hz); });
  if (static_cast<double>(kept) < steady_share * static_cast<double>(steady.size())) {
    return std::nullopt;
  }
  const std::vector<double> rates = rates_of(steady);
  return Pace{.hz = median(rates),
              .settle_ns = steady.front().time_ns,
              .jitter_fraction = normal_scale * median_absolute_deviation(rates) / hz,
              .points = rates.size()};
}

std::vector<std::string> doubts_of(const ClockState& state) {
  std::vector<std::string> doubts;
  const std::uint64_t harmful = state.throttle_reasons & harmful_throttle_mask;
  if (harmful != 0) {
    doubts.push_back(fmt::format("heat or power holds the clocks down (reasons {:#x})", harmful));
  }
  if (!state.under_load) {
    doubts.emplace_back("the clock does not become steady while all SMs work");
    return doubts;
  }
  const double hz = state.under_load->hz;
  if (state.highest_hz > 0 && hz < least_share_of_highest * state.highest_hz) {
    doubts.push_back(
        fmt::format("under load it is {:.0f} % of the highest clock", 100 * hz / state.highest_hz));
  }
  if (state.idle_hz > 0 && std::abs(hz / state.idle_hz - 1) > most_change_by_load) {
    doubts.push_back(
        fmt::format("under load it is {:.1f} % of the idle clock", 100 * hz / state.idle_hz));
  }
  return doubts;
}

}  // namespace sonde
