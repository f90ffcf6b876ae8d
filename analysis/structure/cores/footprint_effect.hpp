// Whether latency depends on how much is loaded: the mark of a cache (Wong 2010, section IV-F).
// Input of jobs/shared.cpp.
#pragma once

#include <cstdint>
#include <span>

namespace sonde {

/// `none`: the latencies are one. `step`: those of large footprints are longer. `unclear`: they
/// differ, but not as those behind a cache do.
enum class FootprintEffect { none, step, unclear };

struct FootprintFit {
  FootprintEffect effect = FootprintEffect::unclear;
  double least_cycles = 0;
  double most_cycles = 0;
  double fast_bytes = 0;  // of a step: the largest footprint that is fast
};

/// Sorts latencies by footprint into one level, or two of which the slow one has all footprints
/// beyond some size.
/// @param footprint_bytes of each latency, in any order, several of one size allowed
/// @param clock_step_cycles below which no difference means anything
/// @throws Error if the sizes differ or nothing is given
FootprintFit fit_footprints(std::span<const double> footprint_bytes,
                            std::span<const double> latency_cycles, double clock_step_cycles);

}  // namespace sonde
