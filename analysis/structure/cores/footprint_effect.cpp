// One level of latency, or two that a size of footprint divides.
#include "analysis/structure/cores/footprint_effect.hpp"

#include "analysis/statistics.hpp"
#include "base/error.hpp"

#include <algorithm>
#include <limits>
#include <vector>

namespace sonde {
namespace {

/// A miss costs at least two cycles more than a hit: one to look and one to fetch.
constexpr double least_step_cycles = 2;
/// Least part of the variance that "large or not" must explain, as of bank conflicts.
constexpr double least_explained = 0.9;

}  // namespace

FootprintFit fit_footprints(std::span<const double> footprint_bytes,
                            std::span<const double> latency_cycles, double clock_step_cycles) {
  require(!latency_cycles.empty() && footprint_bytes.size() == latency_cycles.size(),
          "footprints and latencies differ in number");
  FootprintFit fit{.least_cycles = std::ranges::min(latency_cycles),
                   .most_cycles = std::ranges::max(latency_cycles)};
  const double difference = fit.most_cycles - fit.least_cycles;
  if (difference < std::max(1.0, clock_step_cycles)) {
    fit.effect = FootprintEffect::none;
    return fit;
  }
  if (latency_cycles.size() < 2) return fit;
  const TwoModes levels = split_in_two({latency_cycles.begin(), latency_cycles.end()});
  double smallest_slow = std::numeric_limits<double>::infinity();
  for (std::size_t i = 0; i < latency_cycles.size(); ++i) {
    if (latency_cycles[i] > levels.threshold) {
      smallest_slow = std::min(smallest_slow, footprint_bytes[i]);
    } else {
      fit.fast_bytes = std::max(fit.fast_bytes, footprint_bytes[i]);
    }
  }
  const double cost = levels.high.center - levels.low.center;
  if (cost >= least_step_cycles + clock_step_cycles && fit.fast_bytes < smallest_slow &&
      levels.explained_fraction >= least_explained) {
    fit.effect = FootprintEffect::step;
  }
  return fit;
}

}  // namespace sonde
