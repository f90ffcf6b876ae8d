// Checks the line size by chases over one set that lines of half or twice the size would answer
// differently.
#pragma once

#include "jobs/cache/cache_probe.hpp"

namespace sonde {

/// Three kinds of chases over the lines of a set. One line too many, accessed anywhere within each
/// line, overflows the set. As many lines as ways, with all their fetched units, stay. A neighbour
/// of one of these lines overflows the set only if the index function puts both into one set; a
/// function that separates neighbours already excludes a line of twice the size. Returns the
/// predictions of all kinds; of the failed kind alone if one fails; none without a set.
/// @param unit_bytes bytes that one miss brings
Predictions try_line(CacheProbe& probe, const SetFindings& found, std::uint64_t unit_bytes);

}  // namespace sonde
