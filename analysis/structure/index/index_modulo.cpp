// Remainders of the address for numbers of sets that are no power of two.
#include "analysis/structure/index/index_candidates.hpp"

#include <algorithm>
#include <bit>

namespace sonde {
namespace {

// Granularities tried beyond powers of two: multiples of the line up to this many.
constexpr std::uint64_t most_lines_of_odd_granule = 64;

std::vector<std::uint64_t> likely_granularities(std::uint64_t line_bytes, std::uint64_t span) {
  std::vector<std::uint64_t> granularities;
  for (std::uint64_t g = std::bit_ceil(line_bytes); g <= span; g *= 2) granularities.push_back(g);
  for (std::uint64_t lines = 1; lines <= most_lines_of_odd_granule; ++lines) {
    if (!std::has_single_bit(lines * line_bytes)) granularities.push_back(lines * line_bytes);
  }
  return granularities;
}

}  // namespace

ModuloFit fit_modulo(const IndexSample& sample, std::uint64_t line_bytes) {
  const auto [low, high] = std::minmax_element(sample.offsets.begin(), sample.offsets.end());
  const std::uint64_t span = *high - *low;
  const auto most_sets =
      static_cast<std::uint32_t>(static_cast<double>(sample.members.size()) / least_seen_sets);
  Random random(sample.offsets.size());
  ModuloFit best;
  std::vector<std::uint64_t> residues(sample.offsets.size());
  for (std::uint64_t granularity : likely_granularities(line_bytes, span)) {
    for (std::uint32_t sets = std::max(2U, sample.solid_sets); sets <= most_sets; ++sets) {
      if (granularity * (sets - 1) > span) break;
      const auto residue = [&](std::uint64_t offset) { return offset / granularity % sets; };
      if (!looks_right(sample, random, [&](std::uint64_t one, std::uint64_t other) {
            return residue(one) != residue(other);
          })) {
        continue;
      }
      std::transform(sample.offsets.begin(), sample.offsets.end(), residues.begin(), residue);
      const ClassMatch match = match_classes(residues, sample.sets);
      if (match.agreement > best.match.agreement) best = {granularity, sets, match};
      if (follows_index(best.match, best.sets)) return best;
    }
  }
  return best;
}

}  // namespace sonde
