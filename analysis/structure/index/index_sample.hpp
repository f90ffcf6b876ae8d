// Labelled lines as the fits of index functions use them, and how well a function fits them.
#pragma once

#include "analysis/structure/index/index_function.hpp"

#include <cstddef>
#include <cstdint>
#include <map>
#include <vector>

namespace sonde {

struct IndexSample {
  std::vector<PlacedLine> lines;                             // those of labelled sets first
  std::size_t labelled = 0;                                  // so many
  std::map<std::uint32_t, std::vector<std::uint64_t>> sets;  // their offsets, by label

  explicit IndexSample(const std::vector<PlacedLine>& placed);
  bool shows_all_sets() const { return labelled == lines.size(); }
};

/// Labelled sets and those of a function match if each holds more lines of the other than of any
/// third: of what one splits or merges, only the largest part agrees.
struct IndexMatch {
  double agreement = 0;     // share of lines in matching sets; of other_set: in none of them
  double overlap = 0;       // lines in matching sets over these and those of other_set there
  std::size_t matched = 0;  // pairs of sets
};

/// @pre can_number_sets(index)
IndexMatch match_index(const IndexSample& sample, const IndexFunction& index);

}  // namespace sonde
