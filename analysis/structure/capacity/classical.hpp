// The conclusions of the two classical methods from mean latencies: Saavedra (1992) varies
// footprints and strides, Wong (2010) reads the stairs beyond the size. Both assume LRU and sets
// chosen by adjacent address bits; else they contradict each other (Mei and Chu 2016, section 4).
#pragma once

#include <optional>
#include <string>
#include <vector>

namespace sonde {

/// Mean latencies of ascending chases, for each footprint and stride.
struct SaavedraCurves {
  std::vector<double> strides_bytes;     // ascending; each is twice the one before
  std::vector<double> footprints_bytes;  // ascending
  std::vector<double> cycles;            // [footprint * number of strides + stride]
};

/// Mean latencies of ascending chases over footprints in equal steps around the size. The last
/// footprint is far larger: every load misses.
struct WongCurve {
  std::vector<double> footprints_bytes;
  std::vector<double> cycles;
};

/// The answer of a method, right or wrong.
struct ClassicalAnswer {
  std::optional<double> ways;
  std::string reason;  // why there are no ways
};

/// Over a footprint beyond the size the share of misses grows as stride / line up to 1, stays
/// there, and falls to 0 at the stride at which footprint / stride equals the ways. All footprints
/// must agree.
/// @param size_bytes footprints up to this size fit
ClassicalAnswer conclude_saavedra(const SaavedraCurves& curves, double size_bytes);

/// The curve is flat up to the size, then rises in equal stairs at equal distances until all sets
/// overflow, then stays flat. Ways = size / (number of stairs x distance).
ClassicalAnswer conclude_wong(const WongCurve& curve);

/// Says how the methods contradict each other or the known ways; empty if they do not.
/// @param known_ways from conflicts, if these resolved the sets
std::string describe_contradiction(const ClassicalAnswer& saavedra, const ClassicalAnswer& wong,
                                   std::optional<double> known_ways);

}  // namespace sonde
