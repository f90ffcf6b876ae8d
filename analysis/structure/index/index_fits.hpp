// One fit for each kind of index function, from what lines of one set have in common. A few lines
// may have a wrong label: where all of them fit no function well, random pairs of lines do, unless
// a wrong one is among them (Fischler and Bolles 1981, consensus).
#pragma once

#include "analysis/structure/index/index_function.hpp"

#include <cstddef>
#include <cstdint>
#include <map>
#include <vector>

namespace sonde {

/// Labelled lines as the fits use them.
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
  double agreement = 0;       // share of lines in matching sets; of other_set: in none of them
  double overlap = 0;         // lines in matching sets over these and those of other_set there
  std::size_t matched = 0;    // pairs of sets
  std::size_t misplaced = 0;  // labelled lines that are in none of them
};

/// @pre can_number_sets(index)
IndexMatch match_index(const IndexSample& sample, const IndexFunction& index);

/// A function and how it fits; none at first.
struct IndexCandidate {
  IndexFunction index;
  IndexMatch match;

  /// Takes another function in its place if more lines agree with that.
  void improve(const IndexSample& sample, IndexFunction other);
};

/// XORs of address bits: lines of one set differ by vectors on which every mask has even parity.
void fit_masks(const IndexSample& sample, IndexCandidate& best);

/// Of few sets, whose lines may all be alike in some bit: leaves out masks without which no line of
/// another set comes into one of them.
void drop_needless_masks(const IndexSample& sample, IndexCandidate& best);

/// Remainders of (offset / granularity): lines of one set lie multiples of the sets' number apart.
void fit_modulo(const IndexSample& sample, std::uint64_t line_bytes, IndexCandidate& best);

/// Address bits that varied independently of lower ones.
std::uint64_t independent_bits(const IndexSample& sample);

}  // namespace sonde
