// XORs of address bits by consensus over GF(2).
#include "analysis/structure/index/gf2.hpp"
#include "analysis/structure/index/index_candidates.hpp"

#include <algorithm>
#include <bit>

namespace sonde {
namespace {

// A draw of clean differences succeeds with 0.98^rank at 1 % wrong sets, 0.45 at rank 40.
constexpr int draws_of_differences = 200;

MaskFit judge_masks(const IndexSample& sample, const Gf2Basis& same_set, std::uint64_t bits) {
  MaskFit fit;
  fit.masks = orthogonal_complement(same_set, bits).rows();
  std::vector<std::uint64_t> values;
  values.reserve(sample.offsets.size());
  for (std::uint64_t offset : sample.offsets) values.push_back(fold_bits(offset, fit.masks));
  fit.match = match_classes(values, sample.sets);
  return fit;
}

Gf2Basis all_differences(const IndexSample& sample, std::uint64_t bits) {
  Gf2Basis same_set;
  for (const auto& set : sample.members) {
    for (std::size_t line : set) {
      same_set.insert((sample.offsets[line] ^ sample.offsets[set.front()]) & bits);
    }
  }
  return same_set;
}

/// Random differences within sets up to the rank asked for; fewer if they do not reach it.
Gf2Basis draw_differences(const IndexSample& sample, std::uint64_t bits, std::size_t rank,
                          Random& random) {
  Gf2Basis same_set;
  const std::size_t limit = 64 * (rank + 1);  // rarely more than a few times the rank is needed
  for (std::size_t draw = 0; draw < limit && same_set.rank() < rank; ++draw) {
    const std::size_t line = random.below(sample.offsets.size());
    const auto& set = sample.members[sample.sets[line]];
    const std::size_t other = set[random.below(set.size())];
    same_set.insert((sample.offsets[line] ^ sample.offsets[other]) & bits);
  }
  return same_set;
}

/// Exponents of two near the number of sets seen; wrong labels may have added some.
std::vector<std::size_t> likely_ranks(const IndexSample& sample) {
  std::vector<std::size_t> ranks;
  for (std::size_t sets : {std::size_t{sample.solid_sets}, sample.members.size()}) {
    const auto floor = static_cast<std::size_t>(std::bit_width(sets) - 1);
    ranks.insert(ranks.end(), {floor, floor + 1});
  }
  std::sort(ranks.begin(), ranks.end());
  ranks.erase(std::unique(ranks.begin(), ranks.end()), ranks.end());
  return ranks;
}

}  // namespace

std::uint64_t independent_bits(const IndexSample& sample) {
  Gf2Basis differences;
  for (std::uint64_t offset : sample.offsets) differences.insert(offset ^ sample.offsets.front());
  std::uint64_t bits = 0;
  for (std::uint64_t row : differences.rows()) bits |= row & (~row + 1);
  return bits;
}

MaskFit fit_masks(const IndexSample& sample, std::uint64_t bits) {
  MaskFit best = judge_masks(sample, all_differences(sample, bits), bits);
  const auto dimensions = static_cast<std::size_t>(std::popcount(bits));
  Random random(sample.offsets.size());
  for (std::size_t mask_count : likely_ranks(sample)) {
    if (mask_count > dimensions) continue;
    constexpr int most_judged = 8;  // those that look right and are wrong merge sets: rank too high
    for (int draw = 0, judged = 0; draw < draws_of_differences && judged < most_judged; ++draw) {
      if (follows_index(best.match, best.sets())) return best;
      const std::size_t rank = dimensions - mask_count;
      const Gf2Basis same_set = draw_differences(sample, bits, rank, random);
      if (same_set.rank() < rank) break;
      const std::vector<std::uint64_t> masks = orthogonal_complement(same_set, bits).rows();
      if (!looks_right(sample, random, [&](std::uint64_t one, std::uint64_t other) {
            return fold_bits(one ^ other, masks) != 0;
          })) {
        continue;
      }
      ++judged;
      MaskFit fit = judge_masks(sample, same_set, bits);
      if (fit.match.agreement > best.match.agreement) best = std::move(fit);
    }
  }
  return best;
}

}  // namespace sonde
