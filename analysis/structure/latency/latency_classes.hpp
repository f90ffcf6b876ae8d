// Levels of a path by latency: who serves the loads of chases through growing footprints. The first
// step towards caches that lie behind one another.
#pragma once

#include <cstdint>
#include <vector>

namespace sonde {

/// Latencies of a steady cyclic chase.
struct FootprintChase {
  std::uint64_t span_bytes = 0;
  std::vector<double> cycles;
};

/// Loads that were served from one place.
struct LatencyClass {
  std::uint64_t first_span_bytes = 0;  // the smallest footprint that sees it steadily
  double low_cycles = 0;               // bounds of its latencies in those that do
  double high_cycles = 0;
  std::vector<double> cycles;  // its latencies there
};

/// Classes that serve at least `least_share` of the loads of some chase, innermost first: what is
/// seen in passing only (mixtures, outliers) is none. Latencies further apart than `gap_cycles` are
/// of different classes.
std::vector<LatencyClass> find_latency_classes(const std::vector<FootprintChase>& chases,
                                               double gap_cycles, double least_share = 0.5);

/// Those that serve half of some chase, and what never does, but a tenth of four and more, or 3 %
/// of eight, at latencies of its own: a cache whose policy keeps old lines (BRRIP) serves some of
/// every footprint, most of none. Not for loads that wait for translations, which are seen in
/// passing, too.
std::vector<LatencyClass> find_passing_classes(const std::vector<FootprintChase>& chases,
                                               double gap_cycles);

/// Loads of which one place served nearly all.
LatencyClass class_of(const std::vector<double>& cycles);

/// Halfway between the latencies of two neighbouring classes.
double threshold_between(const LatencyClass& inner, const LatencyClass& outer);

}  // namespace sonde
