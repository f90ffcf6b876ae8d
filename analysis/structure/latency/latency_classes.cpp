// The main mode of each chase, and modes that are the same put together.
#include "analysis/structure/latency/latency_classes.hpp"

#include "analysis/statistics.hpp"

#include <algorithm>
#include <array>

namespace sonde {
namespace {

/// A share of so many chases that one place serves makes a class of it.
struct Passing {
  double least_share;
  std::size_t least_chases;
};

// BRRIP of 6 ways behind 8 of LRU kept 8 to 32 % of 17 chases, BRRIP of 5 behind 3 of FIFO 2 to
// 11 % of 21; outliers are a few in a thousand. Fewer chases than both strides of two footprints
// are none: between two of them one class goes over into the next.
constexpr std::array<Passing, 2> passing{
    {{.least_share = 0.1, .least_chases = 4}, {.least_share = 0.03, .least_chases = 8}}};

/// The loads of a chase that one place served, for each that served at least this share.
std::vector<LatencyClass> classes_of(const FootprintChase& chase, double gap_cycles,
                                     double least_share) {
  std::vector<LatencyClass> classes;
  for (const Mode& mode : find_modes(chase.cycles, gap_cycles, least_share)) {
    std::vector<double> served;
    for (double cycles : chase.cycles) {
      if (cycles >= mode.low && cycles <= mode.high) served.push_back(cycles);
    }
    // Single loads that were late bridge no gap.
    classes.push_back(class_of(served));
  }
  return classes;
}

void join(LatencyClass& to, const LatencyClass& from) {
  to.low_cycles = std::min(to.low_cycles, from.low_cycles);
  to.high_cycles = std::max(to.high_cycles, from.high_cycles);
  to.cycles.insert(to.cycles.end(), from.cycles.begin(), from.cycles.end());
}

/// Latencies of several chases that touch, put together.
struct JoinedClass {
  LatencyClass found;
  std::size_t chases = 0;
};

/// Innermost first.
std::vector<JoinedClass> join_classes(const std::vector<FootprintChase>& chases, double gap_cycles,
                                      double least_share) {
  std::vector<LatencyClass> seen;
  for (const FootprintChase& chase : chases) {
    for (LatencyClass& found : classes_of(chase, gap_cycles, least_share))
      seen.push_back(std::move(found));
  }
  std::ranges::sort(seen, {}, &LatencyClass::low_cycles);
  std::vector<JoinedClass> joined;
  for (LatencyClass& found : seen) {
    if (!joined.empty() && found.low_cycles <= joined.back().found.high_cycles + gap_cycles) {
      join(joined.back().found, found);
      ++joined.back().chases;
    } else {
      joined.push_back({std::move(found), 1});
    }
  }
  return joined;
}

bool touch(const LatencyClass& one, const LatencyClass& other, double gap_cycles) {
  return one.low_cycles <= other.high_cycles + gap_cycles &&
         other.low_cycles <= one.high_cycles + gap_cycles;
}

}  // namespace

std::vector<LatencyClass> find_latency_classes(const std::vector<FootprintChase>& chases,
                                               double gap_cycles, double least_share) {
  std::vector<LatencyClass> classes;
  for (JoinedClass& joined : join_classes(chases, gap_cycles, least_share))
    classes.push_back(std::move(joined.found));
  return classes;
}

std::vector<LatencyClass> find_passing_classes(const std::vector<FootprintChase>& chases,
                                               double gap_cycles) {
  std::vector<LatencyClass> classes = find_latency_classes(chases, gap_cycles);
  for (const auto& [least_share, least_chases] : passing) {
    for (JoinedClass& joined : join_classes(chases, gap_cycles, least_share)) {
      const bool is_new = std::ranges::none_of(classes, [&](const LatencyClass& known) {
        return touch(known, joined.found, gap_cycles);
      });
      if (is_new && joined.chases >= least_chases) classes.push_back(std::move(joined.found));
    }
  }
  std::ranges::sort(classes, {}, &LatencyClass::low_cycles);
  return classes;
}

LatencyClass class_of(const std::vector<double>& cycles) {
  return {quantile(cycles, 0.02), quantile(cycles, 0.98), cycles};
}

double threshold_between(const LatencyClass& inner, const LatencyClass& outer) {
  return (inner.high_cycles + outer.low_cycles) / 2;
}

std::optional<HitClasses> separate_hits(const std::vector<double>& hits,
                                        const std::vector<double>& misses,
                                        double least_gap_cycles) {
  if (hits.empty() || misses.empty()) return std::nullopt;
  const double highest_hit = quantile(hits, 0.98);
  const double lowest_miss = quantile(misses, 0.10);
  if (lowest_miss - highest_hit < least_gap_cycles) return std::nullopt;
  return HitClasses{.hit_cycles = median(hits),
                    .miss_cycles = median(misses),
                    .threshold_cycles = (highest_hit + lowest_miss) / 2};
}

}  // namespace sonde
