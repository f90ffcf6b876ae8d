// The main mode of each chase, and modes that are the same put together.
#include "analysis/structure/latency/latency_classes.hpp"

#include "analysis/statistics.hpp"

#include <algorithm>

namespace sonde {
namespace {

constexpr double steady_share = 0.5;

/// The loads of a chase that its commonest place served, if that is at least half of them.
std::vector<LatencyClass> main_class(const FootprintChase& chase, double gap_cycles) {
  std::vector<LatencyClass> classes;
  for (const Mode& mode : find_modes(chase.cycles, gap_cycles, steady_share)) {
    std::vector<double> served;
    for (double cycles : chase.cycles) {
      if (cycles >= mode.low && cycles <= mode.high) served.push_back(cycles);
    }
    // Single loads that were late bridge no gap.
    LatencyClass found = class_of(served);
    found.first_span_bytes = chase.span_bytes;
    classes.push_back(std::move(found));
  }
  return classes;
}

void join(LatencyClass& to, const LatencyClass& from) {
  to.first_span_bytes = std::min(to.first_span_bytes, from.first_span_bytes);
  to.low_cycles = std::min(to.low_cycles, from.low_cycles);
  to.high_cycles = std::max(to.high_cycles, from.high_cycles);
  to.cycles.insert(to.cycles.end(), from.cycles.begin(), from.cycles.end());
}

}  // namespace

std::vector<LatencyClass> find_latency_classes(const std::vector<FootprintChase>& chases,
                                               double gap_cycles) {
  std::vector<LatencyClass> seen;
  for (const FootprintChase& chase : chases) {
    for (LatencyClass& found : main_class(chase, gap_cycles)) seen.push_back(std::move(found));
  }
  std::ranges::sort(seen, {}, &LatencyClass::low_cycles);
  std::vector<LatencyClass> classes;
  for (LatencyClass& found : seen) {
    if (!classes.empty() && found.low_cycles <= classes.back().high_cycles + gap_cycles) {
      join(classes.back(), found);
    } else {
      classes.push_back(std::move(found));
    }
  }
  return classes;
}

LatencyClass class_of(const std::vector<double>& cycles) {
  return {0, quantile(cycles, 0.02), quantile(cycles, 0.98), cycles};
}

double threshold_between(const LatencyClass& inner, const LatencyClass& outer) {
  return (inner.high_cycles + outer.low_cycles) / 2;
}

}  // namespace sonde
