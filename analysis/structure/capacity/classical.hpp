// What the two classical methods conclude from mean latencies: Saavedra (1992) from footprints and
// strides, Wong (2010) from the stairs beyond the size. Both assume LRU and sets chosen by adjacent
// address bits; where that does not hold they contradict each other (Mei and Chu 2016, section 4).
#pragma once

#include <optional>
#include <string>
#include <vector>

namespace sonde {

/// Mean latencies of ascending chases over each footprint in each stride.
struct SaavedraCurves {
  std::vector<double> strides_bytes;     // ascending, each twice the one before
  std::vector<double> footprints_bytes;  // ascending
  std::vector<double> cycles;            // [footprint * strides + stride]
};

/// Mean latencies of ascending chases over footprints in equal steps around the size; the last
/// footprint lies beyond them all, where every load misses.
struct WongCurve {
  std::vector<double> footprints_bytes;
  std::vector<double> cycles;
};

/// What a method says of a cache, right or wrong.
struct ClassicalAnswer {
  std::optional<double> ways;
  std::string reason;  // why there are none
};

/// Footprints beyond the size: the share of misses grows as stride / line up to 1, stays there, and
/// falls to 0 at the stride at which as many places are left as a set has ways. All footprints that
/// come to this must agree.
/// @param size_bytes footprints up to this fit
ClassicalAnswer conclude_saavedra(const SaavedraCurves& curves, double size_bytes);

/// Flat up to the size, then stairs of the same height in the same distance until all sets
/// overflow, then flat: size / (number of stairs x their distance) is the number of ways.
ClassicalAnswer conclude_wong(const WongCurve& curve);

/// How the methods contradict each other or what conflicts between single lines have shown; empty
/// if they do not.
/// @param known_ways from conflicts, if they were resolved
std::string describe_contradiction(const ClassicalAnswer& saavedra, const ClassicalAnswer& wong,
                                   std::optional<double> known_ways);

}  // namespace sonde
