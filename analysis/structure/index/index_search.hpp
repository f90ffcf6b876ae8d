// From lines with known sets to the index function. The sets come from evictions: they have
// arbitrary numbers, and a few lines have a wrong one.
#pragma once

#include "analysis/structure/index/index_function.hpp"

#include <cstddef>
#include <cstdint>
#include <map>
#include <vector>

namespace sonde {

/// The function that puts the lines into these sets, whatever their numbers. Tries XOR folds; then
/// one set, fields of address bits, and free XORs of bits (GF(2)-linear); then remainders. Of equal
/// fits the first counts: a fold also says what a bit does that hardly varies in memory. Method:
/// docs/methods/index-function.md.
/// @param lines either of all sets, each with its label, of which about 1 % may be wrong; or the
/// lines of one set, and others labelled `other_set`: then k masks are taken to give 2^k sets
/// @param line_bytes the smallest granularity of a remainder
/// @param buffer_address address of offset 0: the function depends on addresses, not on offsets
IndexFunction fit_index_function(const std::vector<PlacedLine>& lines, std::uint64_t line_bytes,
                                 std::uint64_t buffer_address = 0);

struct IndexSample {
  std::vector<PlacedLine> lines;                             // lines with a label first
  std::size_t labelled = 0;                                  // number of lines with a label
  std::map<std::uint32_t, std::vector<std::uint64_t>> sets;  // offsets by label

  explicit IndexSample(const std::vector<PlacedLine>& placed);
  bool shows_all_sets() const { return labelled == lines.size(); }
};

/// A labelled set and a set of the function match if each shares more lines with the other than
/// with any third set. If the function splits or merges sets, only the largest parts agree.
struct IndexMatch {
  double agreement =
      0;  // fraction of lines placed right: in matching sets; of other_set: in no matching set
  std::size_t matched = 0;
  std::size_t misplaced = 0;  // labelled lines in no matching set
};

/// @pre can_number_sets(index)
IndexMatch match_index(const IndexSample& sample, const IndexFunction& index);

/// The best function so far, if any, and how well it fits.
struct IndexCandidate {
  IndexFunction index;
  IndexMatch match;

  /// Replaces the function if more lines agree with the other one.
  void improve(const IndexSample& sample, IndexFunction other);
};

/// Tries folds: address bits from some bit on, cut into groups of n bits that are XORed.
void fit_folds(const IndexSample& sample, std::uint64_t line_bytes, IndexCandidate& best);

/// Finds XORs of address bits: every mask has even parity on the differences of lines of one set.
void fit_masks(const IndexSample& sample, IndexCandidate& best);

/// If only some sets are labelled, their lines may agree in some bit by chance: drops masks that
/// are not needed to keep lines of other sets out.
void drop_needless_masks(const IndexSample& sample, IndexCandidate& best);

/// Finds remainders of (offset / granularity): lines of one set lie multiples of the divisor apart.
void fit_modulo(const IndexSample& sample, std::uint64_t line_bytes, IndexCandidate& best);

/// Address bits that varied independently of lower bits.
std::uint64_t independent_bits(const IndexSample& sample);

}  // namespace sonde
