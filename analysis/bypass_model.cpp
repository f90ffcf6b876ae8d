// The model of Dai et al. 2016, section 5, from the lanes of one measurement to the L it prefers.
#include "analysis/bypass_model.hpp"

#include "analysis/statistics.hpp"
#include "base/error.hpp"

#include <algorithm>
#include <cmath>
#include <map>

namespace sonde {
namespace {

constexpr double default_e = 0.5;  // Dai 2016, section 5.3, as the range below
constexpr double least_e = 0.3;
constexpr double most_e = 0.7;
constexpr double e_step = 0.05;
/// How much better than the default an E must correlate to be taken.
constexpr double least_gain = 0.01;

struct SmSum {
  double cycles = 0;
  double accesses_per_cycle = 0;
  double hits = 0;
  double congestion = 0;
};

double correlate(std::span<const double> x, std::span<const double> y) {
  const auto [low, high] = std::ranges::minmax_element(x);
  if (*low == *high) return 0;
  const LinearFit fit = fit_line(x, y);
  return std::copysign(std::sqrt(std::max(0.0, fit.r2)), fit.slope);
}

double sum_of_squares(std::span<const BypassPoint> points, double exponent) {
  const double warps = static_cast<double>(points.size() - 1);
  const double base = points.back().congestion;
  double sum = 0;
  for (std::size_t l = 1; l < points.size(); ++l) {
    const double error =
        points[l].congestion / base - std::pow(static_cast<double>(l) / warps, exponent);
    sum += error * error;
  }
  return sum;
}

}  // namespace

UnloadedClass describe_unloaded(std::span<const std::uint32_t> window_cycles) {
  return {.typical_cycles = median(window_cycles),
          .longest_cycles = quantile({window_cycles.begin(), window_cycles.end()}, 0.99)};
}

BypassPoint summarize_bypass(const std::vector<LaneTrace>& lanes, int cached_warps,
                             const Unloaded& unloaded) {
  std::map<int, SmSum> sums;
  for (const LaneTrace& lane : lanes) {
    SmSum& sum = sums[lane.sm];
    const double elapsed_cycles = static_cast<double>(lane.elapsed_cycles);
    sum.cycles = std::max(sum.cycles, elapsed_cycles);
    if (elapsed_cycles > 0) {
      sum.accesses_per_cycle += static_cast<double>(lane.window_cycles.size()) / elapsed_cycles;
    }
    if (lane.warp >= cached_warps) continue;
    for (std::uint32_t cycles : lane.window_cycles) {
      const bool is_hit = cycles < unloaded.threshold_cycles();
      const UnloadedClass& expected = is_hit ? unloaded.hit : unloaded.miss;
      sum.hits += is_hit ? 1 : 0;
      if (cycles > expected.longest_cycles) sum.congestion += cycles - expected.typical_cycles;
    }
  }
  std::vector<double> cycles, rates, hits, congestion;
  for (const auto& [sm, sum] : sums) {
    cycles.push_back(sum.cycles);
    rates.push_back(sum.accesses_per_cycle);
    hits.push_back(sum.hits);
    congestion.push_back(sum.congestion);
  }
  return {.cycles = median(std::move(cycles)),
          .accesses_per_cycle = median(std::move(rates)),
          .hits = median(std::move(hits)),
          .congestion = median(std::move(congestion))};
}

std::optional<PowerLaw> fit_congestion(std::span<const BypassPoint> points,
                                       double least_congestion) {
  require(points.size() >= 3, "a power law needs at least two warps");
  if (points.back().congestion <= least_congestion) return std::nullopt;
  // The sum of squares is smooth with one minimum in the range that makes sense: a scan finds it.
  double best_exponent = 0;
  double best_sum = sum_of_squares(points, 0);
  for (double exponent = 0.01; exponent <= 12; exponent += 0.01) {
    const double sum = sum_of_squares(points, exponent);
    if (sum < best_sum) {
      best_sum = sum;
      best_exponent = exponent;
    }
  }
  std::vector<double> normalised;
  for (const BypassPoint& point : points.subspan(1)) {
    normalised.push_back(point.congestion / points.back().congestion);
  }
  double mean = 0;
  for (double value : normalised) mean += value / static_cast<double>(normalised.size());
  double variance = 0;
  for (double value : normalised) variance += (value - mean) * (value - mean);
  return PowerLaw{.exponent = best_exponent, .r2 = variance > 0 ? 1 - best_sum / variance : 0};
}

BypassModel fit_bypass_model(std::span<const BypassPoint> points,
                             const std::optional<PowerLaw>& law, double hit_gain_cycles) {
  const double warps = static_cast<double>(points.size() - 1);
  const auto adjust = [&](double e) {
    std::vector<double> adjusted;
    for (std::size_t l = 0; l < points.size(); ++l) {
      const double share =
          law && l > 0 ? std::pow(static_cast<double>(l) / warps, law->exponent) : 0;
      adjusted.push_back(points[l].hits - e * share * points.back().congestion / hit_gain_cycles);
    }
    return adjusted;
  };
  std::vector<double> performance;
  for (const BypassPoint& point : points) performance.push_back(point.accesses_per_cycle);

  BypassModel model{.e = default_e, .best_l = 0, .adjusted_hits = adjust(default_e)};
  if (law) {
    double best = correlate(model.adjusted_hits, performance) + least_gain;
    for (double e = least_e; e < most_e + e_step / 2; e += e_step) {
      const double correlation = correlate(adjust(e), performance);
      if (correlation <= best) continue;
      best = correlation;
      model = {.e = e, .best_l = 0, .adjusted_hits = adjust(e)};
    }
  }
  for (std::size_t l = 0; l < points.size(); ++l) {
    const auto best = static_cast<std::size_t>(model.best_l);
    if (model.adjusted_hits[l] >= model.adjusted_hits[best]) model.best_l = static_cast<int>(l);
  }
  return model;
}

int find_best_l(std::span<const BypassPoint> points, double tolerance) {
  double most = 0;
  for (const BypassPoint& point : points) most = std::max(most, point.accesses_per_cycle);
  int best = 0;
  for (std::size_t l = 0; l < points.size(); ++l) {
    if (points[l].accesses_per_cycle >= most * (1 - tolerance)) best = static_cast<int>(l);
  }
  return best;
}

}  // namespace sonde
