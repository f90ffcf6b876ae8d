// What a chase over lines of several sets says of each set.
#pragma once

#include "analysis/structure/sets/miss_oracle.hpp"

#include <algorithm>
#include <cstdint>

namespace sonde {

/// What a chase showed of the lines of one set.
struct SetMisses {
  std::uint32_t lines = 0;
  std::uint32_t misses = 0;          // over all passes
  std::uint32_t most_of_a_line = 0;  // likewise

  void add(std::uint32_t misses_of_line) {
    ++lines;
    misses += misses_of_line;
    most_of_a_line = std::max(most_of_a_line, misses_of_line);
  }
};

/// Whether lines of one set that missed so often overflow it: at least one in each pass; of four
/// and more, as of TLBs, noise may cover half. Where something else takes a way once, all are lost,
/// once.
bool set_overflows(const SetMisses& seen, const MissCounts& chase);

}  // namespace sonde
