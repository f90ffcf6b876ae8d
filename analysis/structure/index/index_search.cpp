// Fits each kind of function. Accepts the one that most lines follow, if enough lines do, and if
// there are more lines than those that determine the function.
#include "analysis/structure/index/index_search.hpp"

#include "base/error.hpp"
#include "base/random.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>
#include <map>
#include <numeric>
#include <set>

namespace sonde {
namespace {

// About 1 % of the labels may be wrong; a wrong function misplaces at least half of some sets.
constexpr double least_agreement = 0.97;
// Lines of other sets also agree with most wrong functions.
constexpr double least_agreement_of_one_set = 0.995;
// Some sets may be unseen: two of 128, but none of 7 or 8.
constexpr double least_seen_sets = 0.98;

struct IndexSample {
  std::vector<PlacedLine> lines;                             // lines with a label first
  std::size_t labelled = 0;                                  // number of lines with a label
  std::map<std::uint32_t, std::vector<std::uint64_t>> sets;  // addresses by label
  std::uint64_t known_bits = 0;  // address bits that varied independently of lower bits

  IndexSample(const std::vector<PlacedLine>& placed, std::uint64_t buffer_address);
  bool shows_all_sets() const { return labelled == lines.size(); }
};

IndexSample::IndexSample(const std::vector<PlacedLine>& placed, std::uint64_t buffer_address)
    : lines(placed) {
  for (PlacedLine& line : lines) line.offset_bytes += buffer_address;
  const auto others = std::stable_partition(
      lines.begin(), lines.end(), [](const PlacedLine& line) { return line.set != other_set; });
  labelled = static_cast<std::size_t>(others - lines.begin());
  for (auto line = lines.begin(); line != others; ++line) {
    sets[line->set].push_back(line->offset_bytes);
  }
  Gf2Basis differences;
  for (const PlacedLine& line : lines)
    differences.insert(line.offset_bytes ^ lines.front().offset_bytes);
  for (std::uint64_t row : differences.rows()) known_bits |= row & (~row + 1);
}

/// Lines that lie in one set of the function and in one labelled set.
struct SharedLines {
  std::uint64_t index_set = 0;
  std::uint32_t label = 0;
  std::size_t lines = 0;
};

std::vector<SharedLines> count_shared_lines(const IndexSample& sample, const IndexFunction& index) {
  std::vector<SharedLines> counts;
  for (const auto& [label, offsets] : sample.sets) {
    std::map<std::uint64_t, std::size_t> lines_by_set;
    for (std::uint64_t offset : offsets) ++lines_by_set[set_of(index, offset)];
    for (const auto& [set, lines] : lines_by_set) counts.push_back({set, label, lines});
  }
  return counts;
}

/// Pairs of sets that share more lines with each other than with any third set.
std::vector<SharedLines> match_sets(const std::vector<SharedLines>& counts) {
  std::map<std::uint64_t, const SharedLines*> most_of_index_set;
  std::map<std::uint32_t, const SharedLines*> most_of_label;
  for (const SharedLines& shared : counts) {
    const SharedLines*& of_index_set = most_of_index_set[shared.index_set];
    const SharedLines*& of_label = most_of_label[shared.label];
    if (of_index_set == nullptr || shared.lines > of_index_set->lines) of_index_set = &shared;
    if (of_label == nullptr || shared.lines > of_label->lines) of_label = &shared;
  }
  std::vector<SharedLines> matching;
  for (const auto& [set, shared] : most_of_index_set) {
    if (most_of_label[shared->label] == shared) matching.push_back(*shared);
  }
  return matching;
}

/// A labelled set and a set of the function match if each shares more lines with the other than
/// with any third set. If the function splits or merges sets, only the largest parts agree.
struct IndexMatch {
  double agreement = 0;  // fraction of lines placed right: in matching sets; of other_set: in no
                         // matching set
  std::size_t matched = 0;
  std::size_t misplaced = 0;  // labelled lines in no matching set
};

/// @pre can_number_sets(index)
IndexMatch match_index(const IndexSample& sample, const IndexFunction& index) {
  std::set<std::uint64_t> matched_sets;
  std::size_t right = 0;
  for (const SharedLines& shared : match_sets(count_shared_lines(sample, index))) {
    matched_sets.insert(shared.index_set);
    right += shared.lines;
  }
  const auto intruders = static_cast<std::size_t>(
      std::count_if(sample.lines.begin() + static_cast<std::ptrdiff_t>(sample.labelled),
                    sample.lines.end(), [&](const PlacedLine& other) {
                      return matched_sets.contains(set_of(index, other.offset_bytes));
                    }));
  const std::size_t agreeing = right + (sample.lines.size() - sample.labelled) - intruders;
  return {.agreement = static_cast<double>(agreeing) / static_cast<double>(sample.lines.size()),
          .matched = matched_sets.size(),
          .misplaced = sample.labelled - right};
}

/// The best function so far, if any, and how well it fits.
struct IndexCandidate {
  IndexFunction index;
  IndexMatch match;

  /// Replaces the function if more lines agree with the other one.
  void improve(const IndexSample& sample, IndexFunction other) {
    if (!can_number_sets(other)) return;
    const IndexMatch its_match = match_index(sample, other);
    if (its_match.agreement <= match.agreement) return;
    index = std::move(other);
    match = its_match;
    index.agreement = match.agreement;
  }
};

bool follows(const IndexSample& sample, const IndexCandidate& found) {
  if (!sample.shows_all_sets()) {
    // The labelled lines are few, but more certain: each was seen to conflict with the set.
    const double most_misplaced =
        std::max(1.0, (1 - least_agreement) * static_cast<double>(sample.labelled));
    return found.match.agreement >= least_agreement_of_one_set &&
           static_cast<double>(found.match.misplaced) <= most_misplaced;
  }
  return found.match.agreement >= least_agreement &&
         static_cast<double>(found.match.matched) >= least_seen_sets * found.index.sets;
}

/// True if there are more labelled lines than determine the function: a wrong function fits the
/// rest with a chance below 2^-10.
bool has_evidence(const IndexSample& sample, const IndexFunction& index) {
  constexpr double least_evidence_bits = 10;
  if (index.kind == IndexKind::one_set) return true;
  const bool is_regular = index.kind == IndexKind::modulo || index.kind == IndexKind::xor_fold;
  const auto parameters =
      is_regular ? 2
                 : static_cast<std::size_t>(std::popcount(index.known_bits)) - index.masks.size();
  const double spare =
      static_cast<double>(sample.labelled) - static_cast<double>(sample.sets.size() + parameters);
  return spare * std::log2(std::max(2U, index.sets)) >= least_evidence_bits;
}

std::string why_none(const IndexSample& sample, const IndexCandidate& best) {
  if (!has_evidence(sample, best.index)) {
    return fmt::format("{} lines are too few to determine the index function", sample.labelled);
  }
  std::string text = fmt::format(
      "no XOR of bits and no remainder puts more than {:.1f} % of {} lines into the measured sets",
      100 * best.match.agreement, sample.lines.size());
  return sample.shows_all_sets() ? text + fmt::format(" ({} sets)", sample.sets.size()) : text;
}

// At 1 % wrong labels a try of about 40 pairs has only right ones with a chance of 0.98^40 = 0.45.
constexpr int most_tries = 100;

/// Adds random pairs of lines of one set until twelve in a row add nothing. The chance that
/// something is missing is then 2^-12.
template <class Add>
void add_random_pairs(const IndexSample& sample, Random& random, Add add) {
  constexpr int enough = 12;
  for (int idle = 0; idle < enough;) {
    const PlacedLine& line = sample.lines[random.below(sample.labelled)];
    const auto& set = sample.sets.at(line.set);
    idle = add(line.offset_bytes, set[random.below(set.size())]) ? 0 : idle + 1;
  }
}

/// True if most of the first lines of the largest set lie in one set of the function.
bool may_sort(const IndexSample& sample, const IndexFunction& index) {
  constexpr std::size_t few = 12;
  const auto& [label, lines] =
      *std::ranges::max_element(sample.sets, {}, [](const auto& set) { return set.second.size(); });
  const std::size_t asked = std::min(few, lines.size());
  std::map<std::uint64_t, std::size_t> sorted;
  for (std::size_t i = 0; i < asked; ++i) ++sorted[set_of(index, lines[i])];
  return std::ranges::any_of(sorted, [&](const auto& set) { return 2 * set.second > asked; });
}

/// Tries folds: address bits from some bit on, cut into groups of n bits that are XORed.
void fit_folds(const IndexSample& sample, std::uint64_t line_bytes, IndexCandidate& best) {
  constexpr int most_bits = 16;
  constexpr int most_coarseness = 6;  // bits between the line and the lowest bit of the fold
  // Varying bits above the first group; a single one may fit by chance.
  constexpr int fewest_folded = 2;
  const int line_bit = std::countr_zero(std::bit_ceil(line_bytes));
  for (int low_bit = line_bit; low_bit <= line_bit + most_coarseness; ++low_bit) {
    for (int bits = 1; bits <= most_bits; ++bits) {
      if (std::popcount(sample.known_bits >> (low_bit + bits)) < fewest_folded) break;
      IndexFunction fold = make_fold(low_bit, bits);
      fold.known_bits = sample.known_bits;
      if (may_sort(sample, fold)) best.improve(sample, std::move(fold));
    }
  }
}

IndexFunction function_of_masks(std::vector<std::uint64_t> masks, std::uint64_t bits) {
  IndexFunction index{.masks = std::move(masks), .known_bits = bits};
  const bool single_bits =
      std::ranges::all_of(index.masks, [](auto mask) { return std::has_single_bit(mask); });
  index.kind = index.masks.empty() ? IndexKind::one_set
               : single_bits       ? IndexKind::bit_field
                                   : IndexKind::xor_masks;
  index.sets = index.masks.size() < 32 ? 1U << index.masks.size() : 0;
  return index;
}

/// Finds XORs of address bits: every mask has even parity on the differences of lines of one set.
void fit_masks(const IndexSample& sample, IndexCandidate& best) {
  Random random(sample.lines.size());
  std::set<std::vector<std::uint64_t>> known;
  for (int tried = 0; tried < most_tries && best.match.agreement < 1; ++tried) {
    Gf2Basis span;
    add_random_pairs(sample, random, [&](std::uint64_t one, std::uint64_t other) {
      return span.insert(one ^ other);
    });
    IndexFunction index =
        function_of_masks(orthogonal_complement(span, sample.known_bits).rows(), sample.known_bits);
    if (known.insert(index.masks).second) best.improve(sample, std::move(index));
  }
}

/// If only some sets are labelled, their lines may agree in some bit by chance: drops masks that
/// are not needed to keep lines of other sets out.
void drop_needless_masks(const IndexSample& sample, IndexCandidate& best) {
  if (sample.shows_all_sets() || best.index.kind == IndexKind::xor_fold) return;
  for (std::size_t i = best.index.masks.size(); i > 0; --i) {
    std::vector<std::uint64_t> fewer = best.index.masks;
    fewer.erase(fewer.begin() + static_cast<std::ptrdiff_t>(i - 1));
    IndexFunction index = function_of_masks(std::move(fewer), best.index.known_bits);
    const IndexMatch match = match_index(sample, index);
    if (match.agreement < best.match.agreement) continue;
    index.agreement = match.agreement;
    best = {.index = std::move(index), .match = match};
  }
}

/// Powers of two from the line on; other multiples of the line, up to 64 lines.
std::vector<std::uint64_t> likely_granularities(const IndexSample& sample,
                                                std::uint64_t line_bytes) {
  constexpr std::uint64_t most_odd_lines = 64;
  const auto [low, high] = std::ranges::minmax_element(sample.lines, {}, &PlacedLine::offset_bytes);
  const std::uint64_t span_bytes = high->offset_bytes - low->offset_bytes;
  std::vector<std::uint64_t> likely;
  for (std::uint64_t g = std::bit_ceil(line_bytes); g <= span_bytes; g *= 2) likely.push_back(g);
  for (std::uint64_t lines = 1; lines <= most_odd_lines; ++lines) {
    if (!std::has_single_bit(lines * line_bytes)) likely.push_back(lines * line_bytes);
  }
  return likely;
}

/// Finds remainders of (address / granularity): lines of one set lie multiples of the divisor
/// apart.
void fit_modulo(const IndexSample& sample, std::uint64_t line_bytes, IndexCandidate& best) {
  Random random(sample.lines.size());
  for (std::uint64_t granularity_bytes : likely_granularities(sample, line_bytes)) {
    std::set<std::uint64_t> divisors;
    for (int tried = 0; tried < most_tries; ++tried) {
      std::uint64_t divisor = 0;
      add_random_pairs(sample, random, [&](std::uint64_t one, std::uint64_t other) {
        const std::uint64_t before = divisor;
        const std::uint64_t low = std::min(one, other) / granularity_bytes;
        divisor = std::gcd(divisor, std::max(one, other) / granularity_bytes - low);
        return divisor != before;
      });
      divisors.insert(divisor);
    }
    for (std::uint64_t divisor : divisors) {
      if (divisor < 2 || divisor > std::numeric_limits<std::uint32_t>::max()) continue;
      best.improve(sample, {.kind = IndexKind::modulo,
                            .granularity_bytes = granularity_bytes,
                            .sets = static_cast<std::uint32_t>(divisor),
                            .known_bits = sample.known_bits});
    }
    if (best.match.agreement == 1) break;
  }
}

}  // namespace

IndexFunction fit_index_function(const std::vector<PlacedLine>& lines, std::uint64_t line_bytes,
                                 std::uint64_t buffer_address) {
  require(line_bytes > 0, "a line has no bytes (offsets cannot be divided) pass its size");
  const IndexSample sample(lines, buffer_address);
  if (sample.labelled < 2) return {.reason = "fewer than two lines have a known set"};
  IndexCandidate best;
  fit_folds(sample, line_bytes, best);
  if (best.match.agreement < 1) fit_masks(sample, best);
  if (best.match.agreement < 1) fit_modulo(sample, line_bytes, best);
  drop_needless_masks(sample, best);
  if (follows(sample, best) && has_evidence(sample, best.index)) {
    best.index.buffer_address = buffer_address;
    return best.index;
  }
  return {.agreement = best.match.agreement,
          .known_bits = sample.known_bits,
          .reason = why_none(sample, best)};
}

}  // namespace sonde
