// Sets of a code cache whose lines are shorter than a block of code: a block that is entered at its
// last line executes no other.
#pragma once

#include "jobs/cache/geometry.hpp"

namespace sonde {

/// Searches for sets with the last lines of blocks and reports them. They count if they are all
/// that the cache holds, or a half or a quarter of it: then the sets of the others are taken to be
/// like them, and their lines are its size where footprints leave that open. The index function is
/// known if no two lines of a block share a set.
/// @pre the line within a block is known
/// @return why metrics of sets are left without a finding
std::string report_sets_of_last_lines(const CacheUnderTest& cache, CacheGeometry& geometry);

}  // namespace sonde
