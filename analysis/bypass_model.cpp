// The model of Dai et al. 2016, section 5: from measurements to the best L.
#include "analysis/bypass_model.hpp"

#include "analysis/statistics.hpp"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <numeric>

namespace sonde {
namespace {

constexpr double papers_e = 0.5;  // Dai 2016, section 5.3
/// The paper finds 0.3 to 0.7 equally good.
constexpr double tried_e[] = {0.05, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 1, 1.4, 2};
constexpr double exponent_step = 0.01;
constexpr double largest_exponent = 12;
constexpr std::size_t least_points = 4;

/// @param per_sm gives a number for the lanes of one SM
template <class PerSm>
double median_over_sms(std::span<const LaneTrace> lanes, PerSm&& per_sm) {
  std::vector<double> values;
  for (std::size_t begin = 0; begin < lanes.size();) {
    std::size_t end = begin;
    while (end < lanes.size() && lanes[end].sm == lanes[begin].sm) ++end;
    values.push_back(per_sm(lanes.subspan(begin, end - begin)));
    begin = end;
  }
  return median(std::move(values));
}

LoadWindows summarize_sm(std::span<const LaneTrace> lanes, const std::vector<bool>& through_l1) {
  LoadWindows windows;
  for (std::size_t warp = 0; warp < lanes.size(); ++warp) {
    if (!through_l1[warp]) continue;
    const std::vector<std::uint32_t>& cycles = lanes[warp].window_cycles;
    windows.loads += static_cast<double>(cycles.size());
    windows.mean_cycles += std::accumulate(cycles.begin(), cycles.end(), 0.0);
  }
  if (windows.loads > 0) windows.mean_cycles /= windows.loads;
  return windows;
}

/// A point of the paper's figure 4: both values relative to those with all units cached.
struct NormalisedPoint {
  double share = 0;
  double wait = 0;
};

/// Points of the sweeps that wait long enough at N.
std::vector<NormalisedPoint> normalise(std::span<const BypassSweep> sweeps,
                                       double least_wait_cycles) {
  std::vector<NormalisedPoint> points;
  for (const BypassSweep& sweep : sweeps) {
    const double base = sweep.wait_cycles.back();
    if (!(base >= least_wait_cycles) || base <= 0) continue;
    for (std::size_t at = 1; at < sweep.cached.size(); ++at) {
      if (std::isnan(sweep.wait_cycles[at])) continue;
      points.push_back({static_cast<double>(sweep.cached[at]) / sweep.cached.back(),
                        sweep.wait_cycles[at] / base});
    }
  }
  return points;
}

double sum_of_squares(std::span<const NormalisedPoint> points, double exponent) {
  double sum = 0;
  for (const NormalisedPoint& point : points) {
    const double error = point.wait - std::pow(point.share, exponent);
    sum += error * error;
  }
  return sum;
}

double r2_of(std::span<const NormalisedPoint> points, double exponent) {
  double mean = 0;
  for (const auto& point : points) mean += point.wait / static_cast<double>(points.size());
  double variance = 0;
  for (const auto& point : points) variance += (point.wait - mean) * (point.wait - mean);
  return variance > 0 ? 1 - sum_of_squares(points, exponent) / variance : 0;
}

std::vector<double> adjust_hits(const BypassSweep& sweep, double e, double exponent) {
  const double failures = sweep.wait_cycles.back() / sweep.hit_gain_cycles;
  std::vector<double> adjusted;
  for (std::size_t at = 0; at < sweep.cached.size(); ++at) {
    const double share = static_cast<double>(sweep.cached[at]) / sweep.cached.back();
    adjusted.push_back(sweep.estimated_hits[at] -
                       (share > 0 ? e * failures * std::pow(share, exponent) : 0));
  }
  return adjusted;
}

}  // namespace

LoadWindows summarize_windows(std::span<const LaneTrace> lanes,
                              const std::vector<bool>& through_l1) {
  const auto over_sms = [&](double LoadWindows::*number) {
    return median_over_sms(lanes, [&](std::span<const LaneTrace> of_sm) {
      return summarize_sm(of_sm, through_l1).*number;
    });
  };
  return {.loads = over_sms(&LoadWindows::loads),
          .mean_cycles = over_sms(&LoadWindows::mean_cycles)};
}

double accesses_per_cycle(std::span<const LaneTrace> lanes) {
  return median_over_sms(lanes, [](std::span<const LaneTrace> of_sm) {
    double sum = 0;
    for (const LaneTrace& lane : of_sm) {
      if (lane.elapsed_cycles > 0) {
        sum += static_cast<double>(lane.accesses) / static_cast<double>(lane.elapsed_cycles);
      }
    }
    return sum;
  });
}

std::optional<PowerLaw> fit_wait(std::span<const BypassSweep> sweeps, double least_wait_cycles) {
  const std::vector<NormalisedPoint> points = normalise(sweeps, least_wait_cycles);
  if (points.size() < least_points) return std::nullopt;
  // The sum of squares is smooth and has one minimum in the useful range: a scan finds it.
  double best_exponent = 0;
  double best_sum = sum_of_squares(points, 0);
  for (double exponent = exponent_step; exponent <= largest_exponent; exponent += exponent_step) {
    const double sum = sum_of_squares(points, exponent);
    if (sum >= best_sum) continue;
    best_sum = sum;
    best_exponent = exponent;
  }
  return PowerLaw{
      .exponent = best_exponent, .r2 = r2_of(points, best_exponent), .points = points.size()};
}

double r2_of_wait(std::span<const BypassSweep> sweeps, double exponent) {
  return r2_of(normalise(sweeps, 0), exponent);
}

std::size_t choose_cached(const BypassSweep& sweep, double e, double exponent) {
  const std::vector<double> adjusted = adjust_hits(sweep, e, exponent);
  const auto most = std::max_element(adjusted.rbegin(), adjusted.rend());
  return static_cast<std::size_t>(std::distance(adjusted.begin(), most.base())) - 1;
}

std::size_t best_cached(const BypassSweep& sweep, double tolerance) {
  const double most = std::ranges::max(sweep.performance);
  std::size_t best = sweep.performance.size() - 1;
  while (sweep.performance[best] < most * (1 - tolerance)) --best;
  return best;
}

double learn_e(std::span<const BypassSweep> sweeps, double exponent) {
  double learnt = papers_e;
  double least_loss = INFINITY;
  for (double e : tried_e) {
    double loss = 0;
    for (const BypassSweep& sweep : sweeps) {
      loss += 1 - sweep.performance[choose_cached(sweep, e, exponent)] /
                      std::ranges::max(sweep.performance);
    }
    const bool nearer = std::abs(e - papers_e) < std::abs(learnt - papers_e);
    if (loss < least_loss || (loss == least_loss && nearer)) {
      learnt = e;
      least_loss = loss;
    }
  }
  return learnt;
}

}  // namespace sonde
