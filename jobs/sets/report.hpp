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

/// The sets found are those of one line of each block of several.
struct PartsOfBlocks {
  std::uint64_t multiple = 1;    // so many times these sets are all of the cache
  std::uint64_t line_bytes = 0;  // what a way holds
  bool are_of_one_line = false;  // of several in a block: no other line of it lies in these sets
  std::optional<IndexFunction> index = {};  // of all lines, if it was seen
};

/// The same for a search with such lines; the index function is left without a finding where lines
/// of one block share sets.
/// @pre the sets are confirmed
void report_sets_of_parts(const SetsProbe& probe, SetFindings& found, const PartsOfBlocks& parts);

/// What sets of lines that are blocks of one line or of several tell either way: ways, reach and
/// policy. Nothing if they are not confirmed.
void report_ways_of_blocks(const SetsProbe& probe, const SetFindings& found);

}  // namespace sonde
