// Where a search for sets finds its lines.
#pragma once

#include "analysis/structure/conflict_search.hpp"

namespace sonde {

/// The lines that a search may use. Lists of lines are ascending.
struct LineSpace {
  std::uint64_t line_bytes = 0;
  std::uint64_t span_bytes = 0;    // lines lie below this; a power of two shows most address bits
  std::uint64_t cached_lines = 0;  // what the cache holds, roughly
  std::uint64_t seed = 0;
  Lines beside = {};  // visited in every pass beside each list: they have room of their own
  Lines hidden = {};  // others that no list may visit: those beside keep them in a nearer cache
  /// Where offset 0 may lie for the index, in lines: below this. More than 1 where spans are so
  /// wide that a buffer is not aligned to them.
  std::uint64_t origins = 1;
};

}  // namespace sonde
