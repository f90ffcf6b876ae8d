// Takes the main modes of each chase, and joins modes that overlap.
#include "analysis/structure/latency/latency_classes.hpp"

#include "analysis/statistics.hpp"

#include <algorithm>

namespace sonde {
namespace {

/// The classes that served at least half of the loads of a chase.
std::vector<LatencyClass> classes_of(const FootprintChase& chase, double gap_cycles) {
  constexpr double least_share = 0.5;
  std::vector<LatencyClass> classes;
  for (const Mode& mode : find_modes(chase.cycles, gap_cycles, least_share)) {
    std::vector<double> served;
    for (double cycles : chase.cycles) {
      if (cycles >= mode.low && cycles <= mode.high) served.push_back(cycles);
    }
    // class_of cuts the tails, so single late loads do not bridge a gap between classes.
    classes.push_back(class_of(served));
  }
  return classes;
}

void join(LatencyClass& to, const LatencyClass& from) {
  to.low_cycles = std::min(to.low_cycles, from.low_cycles);
  to.high_cycles = std::max(to.high_cycles, from.high_cycles);
  to.cycles.insert(to.cycles.end(), from.cycles.begin(), from.cycles.end());
}

}  // namespace

std::vector<LatencyClass> find_latency_classes(const std::vector<FootprintChase>& chases,
                                               double gap_cycles) {
  std::vector<LatencyClass> seen;
  for (const FootprintChase& chase : chases) {
    for (LatencyClass& found : classes_of(chase, gap_cycles)) seen.push_back(std::move(found));
  }
  std::ranges::sort(seen, {}, &LatencyClass::low_cycles);
  std::vector<LatencyClass> joined;
  for (LatencyClass& found : seen) {
    if (!joined.empty() && found.low_cycles <= joined.back().high_cycles + gap_cycles) {
      join(joined.back(), found);
    } else {
      joined.push_back(std::move(found));
    }
  }
  return joined;
}

LatencyClass class_of(const std::vector<double>& cycles) {
  return {quantile(cycles, 0.02), quantile(cycles, 0.98), cycles};
}

double threshold_between(const LatencyClass& inner, const LatencyClass& outer) {
  return (inner.high_cycles + outer.low_cycles) / 2;
}

std::optional<double> separate_hits(const std::vector<double>& hits,
                                    const std::vector<double>& misses, double least_gap_cycles) {
  if (hits.empty() || misses.empty()) return std::nullopt;
  const double highest_hit = quantile(hits, 0.98);
  const double lowest_miss = quantile(misses, 0.10);
  if (lowest_miss - highest_hit < least_gap_cycles) return std::nullopt;
  return (highest_hit + lowest_miss) / 2;
}

}  // namespace sonde
