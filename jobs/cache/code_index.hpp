// How a cache of code whose blocks are two lines chooses the sets of both, once a search with the
// last lines alone (jobs/cache/code_sets) has shown all of its sets.
#pragma once

#include "jobs/cache/cache_probe.hpp"

namespace sonde {

/// The index function of all lines: a block that is entered at its first line overfills the set of
/// that, if this is full of last lines. Seen of one block by asking all sets, and then predicted
/// for others. nullopt if no one function that goes on as that of the last lines does predicts it.
/// @param probe enters blocks at their last line
/// @param found confirmed, of sets of one associativity
/// @param line_bytes half a block
std::optional<IndexFunction> find_index_of_both_lines(CacheProbe& probe, const SetFindings& found,
                                                      std::uint64_t line_bytes);

}  // namespace sonde
