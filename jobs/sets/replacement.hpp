// The replacement policy of a cache or TLB level whose sets are known, from chases over the lines
// of some sets alone; jobs/sets/report says what came out.
#pragma once

#include "jobs/sets/sets_probe.hpp"

namespace sonde {

/// Matches several sets where they are equal, else one. Method: docs/methods/replacement.md.
/// @pre some lines of one set are known
ReplacementFit measure_replacement(SetsProbe& probe, const SetFindings& found);

}  // namespace sonde
