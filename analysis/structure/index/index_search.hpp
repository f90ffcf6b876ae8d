// From lines whose sets were seen to the function of the address that chooses the set: who evicts
// whom sorted them, so sets have arbitrary numbers and a few lines a wrong one.
#pragma once

#include "analysis/structure/index/index_function.hpp"

#include <cstddef>
#include <cstdint>
#include <map>
#include <vector>

namespace sonde {

/// The function that puts the lines into sets as they were seen, up to the names of the sets: the
/// address folded by XOR to some bits, or a remainder; if neither, one set, a field of address
/// bits, or free XORs of them (GF(2)-linear). Functions of few parameters come first: where memory
/// shows little of a bit, they tell what it does all the same. Method:
/// docs/methods/index-function.md.
/// @param lines either of all sets, each with its label, of which about 1 % may be wrong; or the
/// lines of one set, and others labelled `other_set`: then all 2^k sets of k masks are assumed to
/// be there
/// @param line_bytes the smallest granularity of a modulo
/// @param buffer_address of offset 0: sets are chosen by addresses, which are offsets only from a
/// multiple of all that the function looks at on
IndexFunction fit_index_function(const std::vector<PlacedLine>& lines, std::uint64_t line_bytes,
                                 std::uint64_t buffer_address = 0);

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

/// Address bits from some bit on, cut into groups of n bits that are XORed with each other.
void fit_folds(const IndexSample& sample, std::uint64_t line_bytes, IndexCandidate& best);

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
