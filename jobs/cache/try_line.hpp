// Whether lines are as long as they were taken for, by chases over one set that lines half or twice
// as long would answer otherwise.
#pragma once

#include "jobs/cache/cache_probe.hpp"

namespace sonde {

/// Chases over lines of one set: with one line too many, each asked for at any place within it, the
/// set overflows; with as many as it has ways, all that misses bring of each stays; and the
/// neighbour of one of these overflows it only if the function puts both into one set. A function
/// that parts two neighbours tells them from one line of twice the length by itself. None are asked
/// where no such set is known. Of a kind of lists that fails, the others do not make up for it: its
/// predictions alone are returned.
/// @param unit_bytes that one miss brings
Predictions try_line(CacheProbe& probe, const SetLayout& layout, std::uint64_t unit_bytes);

}  // namespace sonde
