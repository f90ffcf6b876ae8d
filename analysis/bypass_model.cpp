// The model of Dai et al. 2016, section 5, from what was measured to the L it prefers.
#include "analysis/bypass_model.hpp"

#include "analysis/statistics.hpp"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <numeric>

namespace sonde {
namespace {

constexpr double papers_e = 0.5;  // Dai 2016, section 5.3
/// Weights that are tried; the paper says 0.3 to 0.7 all do.
constexpr double tried_e[] = {0.05, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 1, 1.4, 2};
constexpr double exponent_step = 0.01;
constexpr double largest_exponent = 12;
constexpr std::size_t least_points = 4;

/// Calls `use` with the lanes of each SM.
template <class Use>
void for_each_sm(std::span<const LaneTrace> lanes, Use&& use) {
  for (std::size_t begin = 0; begin < lanes.size();) {
    std::size_t end = begin;
    while (end < lanes.size() && lanes[end].sm == lanes[begin].sm) ++end;
    use(lanes.subspan(begin, end - begin));
    begin = end;
  }
}

template <class PerSm>
double median_over_sms(std::span<const LaneTrace> lanes, PerSm&& per_sm) {
  std::vector<double> values;
  for_each_sm(lanes, [&](std::span<const LaneTrace> of_sm) { values.push_back(per_sm(of_sm)); });
  return median(std::move(values));
}

LoadWindows summarize_sm(std::span<const LaneTrace> lanes, const std::vector<bool>& through_l1,
                         double threshold_cycles, std::size_t issue_count) {
  LoadWindows windows;
  std::vector<double> hits;
  double loads = 0;
  for (std::size_t warp = 0; warp < lanes.size(); ++warp) {
    const LaneTrace& lane = lanes[warp];
    loads += static_cast<double>(lane.window_cycles.size());
    if (lane.counts.size() > issue_count) {
      windows.issue_cycles += static_cast<double>(lane.counts[issue_count]);
    }
    if (!through_l1[warp]) continue;
    windows.loads += static_cast<double>(lane.window_cycles.size());
    for (std::uint32_t cycles : lane.window_cycles) {
      windows.mean_cycles += cycles;
      if (cycles < threshold_cycles) hits.push_back(cycles);
    }
  }
  windows.hits = static_cast<double>(hits.size());
  windows.hit_cycles = hits.empty() ? 0 : median_in_place(hits);
  if (windows.loads > 0) windows.mean_cycles /= windows.loads;
  if (loads > 0) windows.issue_cycles /= loads;
  return windows;
}

/// A point of the paper's figure 4: both axes over their value with all units cached.
struct NormalisedPoint {
  double share = 0;
  double wait = 0;
};

/// Of the sweeps that wait at N at least so long.
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

}  // namespace

LoadWindows summarize_windows(std::span<const LaneTrace> lanes, const std::vector<bool>& through_l1,
                              double threshold_cycles, std::size_t issue_count) {
  std::vector<LoadWindows> of_sms;
  for_each_sm(lanes, [&](std::span<const LaneTrace> of_sm) {
    of_sms.push_back(summarize_sm(of_sm, through_l1, threshold_cycles, issue_count));
  });
  const auto over_sms = [&of_sms](double LoadWindows::*number) {
    std::vector<double> values;
    for (const LoadWindows& of_sm : of_sms) values.push_back(of_sm.*number);
    return median(std::move(values));
  };
  return {.loads = over_sms(&LoadWindows::loads),
          .hits = over_sms(&LoadWindows::hits),
          .hit_cycles = over_sms(&LoadWindows::hit_cycles),
          .mean_cycles = over_sms(&LoadWindows::mean_cycles),
          .issue_cycles = over_sms(&LoadWindows::issue_cycles)};
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

double longest_warp_cycles(std::span<const LaneTrace> lanes) {
  return median_over_sms(lanes, [](std::span<const LaneTrace> of_sm) {
    std::uint64_t longest = 0;
    for (const LaneTrace& lane : of_sm) longest = std::max(longest, lane.elapsed_cycles);
    return static_cast<double>(longest);
  });
}

std::optional<PowerLaw> fit_wait(std::span<const BypassSweep> sweeps, double least_wait_cycles) {
  const std::vector<NormalisedPoint> points = normalise(sweeps, least_wait_cycles);
  if (points.size() < least_points) return std::nullopt;
  // The sum of squares is smooth with one minimum in the range that makes sense: a scan finds it.
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
