// One search for the sets of a cache or a TLB level (eviction sets by group testing, their other
// lines, the index function, the ways of every set, the replacement policy), and its findings.
#pragma once

#include "analysis/structure/predict/predictions.hpp"
#include "jobs/sets/sets_probe.hpp"

namespace sonde {

/// Searches and matches; reports nothing.
/// Method: docs/methods/conflict-sets.md.
SetFindings find_sets(SetsProbe& probe);

/// Whether sets found elsewhere hold here, too: as many lines as a set has ways fit, one more does
/// not, in some dozens of sets each asked alone. @pre sets are numbered, and have as many ways each
Predictions try_sets(SetsProbe& probe, const SetFindings& found);

/// The replacement policy, from chases over single sets (replacement.cpp): matches several sets
/// where they are equal, else one. Method: docs/methods/replacement.md.
/// @pre some lines of one set are known
ReplacementFit measure_replacement(SetsProbe& probe, const SetFindings& found);

/// Reports what was found, and gives the reason for the rest in `found.reason` (report.cpp).
void report_sets(const SetsProbe& probe, SetFindings& found);

}  // namespace sonde