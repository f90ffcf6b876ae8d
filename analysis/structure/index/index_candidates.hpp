// The parts of fit_index_function: labelled lines as a sample, and one fit for each kind of
// function.
#pragma once

#include "analysis/structure/index/class_match.hpp"
#include "analysis/structure/index/index_function.hpp"
#include "base/random.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace sonde {

/// Lines may carry a wrong set (about 1 %); a wrong function misses half of some sets at least.
inline constexpr double least_index_agreement = 0.97;
/// A set may have gone unseen: of 128 two, of 7 or 8 none.
inline constexpr double least_seen_sets = 0.98;

/// Lines with their sets numbered from 0.
struct IndexSample {
  std::vector<std::uint64_t> offsets;
  std::vector<std::uint32_t> sets;
  std::vector<std::vector<std::size_t>> members;  // by set: lines; sets of one line too
  std::uint32_t solid_sets = 0;                   // those with no unusually small number of lines
};

/// @pre lines is not empty
IndexSample gather_index_sample(const std::vector<PlacedLine>& lines);

/// Whether a function of so many sets gives those of the sample.
inline bool follows_index(const ClassMatch& match, std::uint64_t sets) {
  return match.agreement >= least_index_agreement &&
         static_cast<double>(match.classes) >= least_seen_sets * static_cast<double>(sets);
}

/// A look at a few pairs of lines of one set: `apart` parts half of them or more if it is wrong by
/// more than a merging of sets.
template <class Apart>
bool looks_right(const IndexSample& sample, Random& random, Apart apart) {
  constexpr int pairs = 64;
  int parted = 0;
  for (int i = 0; i < pairs; ++i) {
    const std::size_t line = random.below(sample.offsets.size());
    const auto& set = sample.members[sample.sets[line]];
    if (apart(sample.offsets[line], sample.offsets[set[random.below(set.size())]])) ++parted;
  }
  return parted * 8 < pairs;
}

/// Bits of the offset that varied independently of lower ones; offsets reduced to them keep every
/// linear function of the differences.
std::uint64_t independent_bits(const IndexSample& sample);

struct MaskFit {
  std::vector<std::uint64_t> masks;
  ClassMatch match;
  std::uint64_t sets() const { return std::uint64_t{1} << std::min<std::size_t>(masks.size(), 63); }
};

/// The masks within `bits` that agree best with the sample. Random differences within sets span
/// their common kernel unless a wrong line is among them (Fischler and Bolles 1981, consensus).
MaskFit fit_masks(const IndexSample& sample, std::uint64_t bits);

struct ModuloFit {
  std::uint64_t granularity_bytes = 0;
  std::uint32_t sets = 0;
  ClassMatch match;
};

/// The first remainder of (offset / granularity) that is accepted, else the best that was tried.
ModuloFit fit_modulo(const IndexSample& sample, std::uint64_t line_bytes);

}  // namespace sonde
