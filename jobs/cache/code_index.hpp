// How a cache of code whose blocks are several lines chooses the sets of all, once a search with
// the last lines alone (jobs/cache/code_sets) has shown the sets that those lie in.
#pragma once

#include "jobs/chase/cache_under_test.hpp"
#include "jobs/sets/report.hpp"

#include <optional>

namespace sonde {

/// The index function of all lines: a block that is executed from another line than its last one on
/// overfills the sets of those before that, if these are full of last lines. XORs are seen so of
/// one block, line by line; remainders go on in one of a few ways. Either counts if it predicts
/// which sets other blocks overfill. nullopt if none does.
/// @param cache of blocks that are executed as a whole
/// @param found the sets of last lines: confirmed, of one associativity
/// @param parts that those sets are  @param size_bytes of all
std::optional<IndexFunction> find_index_of_all_lines(const CacheUnderTest& cache,
                                                     const SetFindings& found,
                                                     const PartsOfBlocks& parts,
                                                     std::uint64_t size_bytes);

}  // namespace sonde
