// Sets, index function and replacement policy as findings of the metrics registry.
#pragma once

#include "jobs/sets/sets_probe.hpp"

namespace sonde {

/// Reports what was found, and gives the reason for the rest in `found.reason`.
void report_sets(const SetsProbe& probe, SetFindings& found);

}  // namespace sonde
