// How far apart devices may be, as a site sets it for its metrics (--tolerance, `[tolerance]`).
#pragma once

#include "analysis/fleet/fleet.hpp"
#include "analysis/results.hpp"

#include <string>
#include <vector>

namespace sonde {

/// "latency=2" warns from a difference of 2 % on, in all metrics that begin with it, and fails from
/// 5/3 of that, as the usual 3 and 5 %; "latency=2/4" says both. The longest prefix counts.
/// @throws ConfigError if an item has no such form, or no metric begins with it
std::vector<Tolerance> parse_tolerances(const std::vector<std::string>& items);

/// Those that a run was made with. Runs of earlier versions have none.
std::vector<Tolerance> tolerances_of(const Provenance& provenance);

}  // namespace sonde
