// The search for the sets of a cache or a TLB level (eviction sets by group testing, further lines
// of the sets, index function, ways of every set, replacement policy), and its findings.
#pragma once

#include "analysis/structure/predict/predictions.hpp"
#include "jobs/sets/sets_probe.hpp"

namespace sonde {

/// Finds sets and replacement policy; reports nothing.
/// Method: docs/methods/conflict-sets.md.
SetFindings find_sets(SetsProbe& probe);

/// Checks sets that were found elsewhere, in some dozens of lists of one set each: as many lines as
/// ways fit, one more does not. @pre sets are numbered and have equal ways
Predictions try_sets(SetsProbe& probe, const SetFindings& found);

/// The replacement policy, from chases over single sets. Compares several sets if their ways are
/// equal. Method: docs/methods/replacement.md.
/// @pre some lines of one set are known
ReplacementFit measure_replacement(SetsProbe& probe, const SetFindings& found);

/// Reports what was found, and sets `found.reason` for the remaining metrics.
void report_sets(const SetsProbe& probe, SetFindings& found);

}  // namespace sonde
