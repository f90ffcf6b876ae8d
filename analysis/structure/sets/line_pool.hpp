// Where a search for sets finds its lines.
#pragma once

#include "analysis/structure/sets/conflict_set.hpp"

namespace sonde {

/// The lines that a search may use. Lists of lines are ascending.
struct LinePool {
  std::uint64_t line_bytes = 0;
  std::uint64_t span_bytes = 0;    // lines lie below this; a power of two shows most address bits
  std::uint64_t cached_lines = 0;  // what the cache holds, roughly
  std::uint64_t seed = 0;
  Lines co_resident =
      {};  // accessed in every pass co_resident each list: they have room of their own
  Lines excluded =
      {};  // others that no list may access: those co_resident keep them in a inner cache
  /// Where offset 0 may lie for the index, in lines: below this. More than 1 where spans are so
  /// wide that a buffer is not aligned to them.
  std::uint64_t origins = 1;
};

}  // namespace sonde
