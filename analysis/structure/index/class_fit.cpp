// Bit fields and XORs by the span of differences, remainders by their divisor.
#include "analysis/structure/index/class_fit.hpp"

#include "analysis/structure/index/gf2.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <numeric>

namespace sonde {
namespace {

constexpr std::uint64_t most_sets = 1 << 20;

/// Share of members and others that a function sorts as they were seen.
double sorted_share(const IndexFunction& index, const Lines& members, const Lines& others) {
  const std::uint64_t home = set_of(index, members.front());
  std::size_t right = 0;
  for (std::uint64_t line : members) right += set_of(index, line) == home;
  for (std::uint64_t line : others) right += set_of(index, line) != home;
  return static_cast<double>(right) / static_cast<double>(members.size() + others.size());
}

Gf2Basis differences_of(const Lines& members, std::uint64_t origin_bytes) {
  Gf2Basis differences;
  for (std::uint64_t line : members) {
    differences.insert((line + origin_bytes) ^ (members.front() + origin_bytes));
  }
  return differences;
}

IndexFunction fit_masks(const Lines& members, const LinePool& space,
                        std::uint64_t origin_bytes = 0) {
  const Gf2Basis differences = differences_of(members, origin_bytes);
  const std::uint64_t bits = std::bit_ceil(space.span_bytes + origin_bytes) - space.line_bytes;
  IndexFunction index;
  index.origin_bytes = origin_bytes;
  index.known_bits = bits;
  index.masks = orthogonal_complement(differences, bits).rows();
  const bool field = std::all_of(index.masks.begin(), index.masks.end(),
                                 [](std::uint64_t mask) { return std::has_single_bit(mask); });
  index.kind = index.masks.empty() ? IndexKind::one_set
               : field             ? IndexKind::bit_field
                                   : IndexKind::xor_masks;
  index.sets = index.masks.size() < 21 ? 1u << index.masks.size() : 0;
  return index;
}

IndexFunction fit_modulo(const Lines& members, const LinePool& space, std::uint64_t granularity) {
  std::uint64_t divisor = 0;
  for (std::uint64_t line : members) {
    const std::uint64_t a = line / granularity;
    const std::uint64_t b = members.front() / granularity;
    divisor = std::gcd(divisor, a > b ? a - b : b - a);
  }
  IndexFunction index;
  index.kind = divisor > 1 ? IndexKind::modulo : IndexKind::unresolved;
  index.granularity_bytes = granularity;
  index.sets = divisor < most_sets ? static_cast<std::uint32_t>(divisor) : 0;
  index.known_bits = std::bit_ceil(space.span_bytes) - space.line_bytes;
  return index;
}

/// Lines of the set as a function has them, and as they were seen: those of both over those of
/// either.
double overlap(const IndexFunction& index, const Lines& members, const Lines& others) {
  const std::uint64_t home = set_of(index, members.front());
  const auto is_home = [&](std::uint64_t line) { return set_of(index, line) == home; };
  const auto both = std::count_if(members.begin(), members.end(), is_home);
  const auto wrong = std::count_if(others.begin(), others.end(), is_home);
  return static_cast<double>(both) / static_cast<double>(std::ssize(members) + wrong);
}

int count_bits(const std::vector<std::uint64_t>& masks) {
  return std::accumulate(masks.begin(), masks.end(), 0,
                         [](int bits, std::uint64_t mask) { return bits + std::popcount(mask); });
}

/// Masks from whatever start of the buffer explains the set: from a wrong start the differences of
/// members show no order, so their rank is high. Several starts explain it alike; the one taken has
/// the fewest masks, of the fewest bits, whatever the buffer.
IndexFunction fit_masks_from_any_origin(const Lines& members, const Lines& others,
                                        const LinePool& space) {
  constexpr double enough_overlap = 0.95;
  constexpr std::size_t spare_rank = 2;  // members of a set of r free bits are about 2^r
  const auto highest_rank = static_cast<std::size_t>(std::bit_width(members.size())) + spare_rank;
  IndexFunction best;
  std::pair<std::size_t, int> best_cost;
  for (std::uint64_t origin = 1; origin < space.origins; ++origin) {
    const std::uint64_t origin_bytes = origin * space.line_bytes;
    if (differences_of(members, origin_bytes).rank() > highest_rank) continue;
    IndexFunction index = fit_masks(members, space, origin_bytes);
    if (!can_number_sets(index) || overlap(index, members, others) < enough_overlap) continue;
    const auto cost = std::pair(index.masks.size(), count_bits(index.masks));
    if (best.kind == IndexKind::unresolved || cost < best_cost) {
      best = std::move(index);
      best_cost = cost;
    }
  }
  return best;
}

/// Every third member is kept back: a function made from too few of them does not hold for those.
Lines without_every_third(const Lines& members) {
  Lines kept;
  for (std::size_t i = 0; i < members.size(); ++i) {
    if (i % 3 != 2) kept.push_back(members[i]);
  }
  return kept;
}

/// Without members that alone span a dimension: one line that slow hits made a member would cost
/// the function a mask. In a set of many members each dimension is spanned by several.
Lines without_lonely(const Lines& members) {
  // Of n more members than dimensions, one in 2^n sets has a dimension that one member spans alone.
  constexpr std::size_t surplus = 12;
  const std::size_t rank = differences_of(members, 0).rank();
  if (members.size() < rank + surplus) return members;
  Lines kept{members.front()};
  for (std::size_t i = 1; i < members.size(); ++i) {
    Lines others = members;
    others.erase(others.begin() + static_cast<std::ptrdiff_t>(i));
    if (differences_of(others, 0).rank() == rank) kept.push_back(members[i]);
  }
  return kept;
}

}  // namespace

bool can_number_sets(const IndexFunction& index) {
  return index.kind != IndexKind::unresolved && index.sets > 0 && index.sets <= most_sets;
}

std::uint64_t set_of(const IndexFunction& index, std::uint64_t offset_bytes) {
  if (index.kind == IndexKind::modulo) return offset_bytes / index.granularity_bytes % index.sets;
  return fold_bits(offset_bytes + index.origin_bytes, index.masks);
}

IndexFunction fit_class(const Lines& members, const Lines& others, const LinePool& space) {
  const Lines shown = without_every_third(members);
  IndexFunction best;
  const auto consider = [&](IndexFunction index) {
    if (!can_number_sets(index)) return;
    index.agreement = sorted_share(index, members, others);
    if (index.agreement > best.agreement) best = std::move(index);
  };
  consider(fit_masks(shown, space));
  consider(fit_masks(without_lonely(shown), space));
  constexpr std::uint64_t coarsest = 64;  // lines in a row of one set
  for (std::uint64_t lines = 1; lines <= coarsest && best.agreement < 1; lines *= 2) {
    consider(fit_modulo(shown, space, lines * space.line_bytes));
  }
  if (best.agreement < enough_agreement) {
    consider(fit_masks_from_any_origin(members, others, space));
  }
  if (best.agreement >= enough_agreement) return best;
  IndexFunction none;
  none.agreement = best.agreement;
  none.known_bits = best.known_bits;
  none.reason = fmt::format(
      "neither a bit field, nor XORs of bits, nor a remainder sorts more than "
      "{:.1f} % of {} lines as they conflict",
      100 * best.agreement, members.size() + others.size());
  return none;
}

}  // namespace sonde
