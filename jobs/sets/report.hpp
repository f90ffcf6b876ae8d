// Sets, index function and replacement policy as findings of the metrics registry.
#pragma once

#include "jobs/sets/sets_probe.hpp"

namespace sonde {

/// Reports what was found, and gives the reason for the rest in `found.reason`.
void report_sets(const SetsProbe& probe, SetFindings& found);

/// What of the function is the same wherever the buffer lies: bits beyond the span change only as
/// far as the buffer reaches over a multiple of it. Unresolved where the lines of the search cannot
/// tell them from the highest bit of the span.
IndexFunction within_span(IndexFunction index, const LinePool& pool);

}  // namespace sonde
