// A hash with a remainder shows by what a change of the offset does to slices. Where it changes no
// bit of x, every line stays in its slice; where it changes one bit of x, each slice goes to two
// others, those 2^i before and behind it; where it changes more, to more.
#include "analysis/structure/index/slice_function.hpp"

#include "analysis/structure/index/gf2.hpp"
#include "base/error.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <bit>
#include <map>
#include <numeric>
#include <optional>
#include <set>
#include <utility>

namespace sonde {
namespace {

/// Of all lines: some may be labelled wrongly.
constexpr double least_explained = 0.99;

using Labels = std::vector<std::uint32_t>;

/// A space of offset bits: sums of its vectors, each sum at the number whose bits choose them.
Labels list_sums(const std::vector<std::uint64_t>& vectors) {
  Labels sums{0};
  for (const std::uint64_t vector : vectors) {
    const std::size_t count = sums.size();
    for (std::size_t i = 0; i < count; ++i) {
      sums.push_back(sums[i] ^ static_cast<std::uint32_t>(vector));
    }
  }
  return sums;
}

/// Whether hardly any line leaves its slice when its number changes by `change`.
bool keeps_slices(std::span<const std::uint32_t> labels, std::uint32_t change) {
  std::size_t moved = 0;
  const auto most_moved =
      static_cast<std::size_t>(2 * (1 - least_explained) * static_cast<double>(labels.size()));
  for (std::size_t line = 0; line < labels.size(); ++line) {
    const std::uint32_t before = labels[line];
    const std::uint32_t after = labels[line ^ change];
    if (before == unknown_slice || after == unknown_slice || before == after) continue;
    if (++moved > most_moved) return false;
  }
  return true;
}

/// The changes of line numbers that change no bit of the hash.
Gf2Basis find_idle_changes(std::span<const std::uint32_t> labels) {
  Gf2Basis idle;
  for (std::uint32_t change = 1; change < labels.size(); ++change) {
    if (idle.reduce(change) != 0 && keeps_slices(labels, change)) idle.insert(change);
  }
  return idle;
}

std::uint32_t most_frequent(const std::map<std::uint32_t, std::size_t>& votes) {
  return std::ranges::max_element(votes, {}, [](const auto& vote) { return vote.second; })->first;
}

/// Vectors that complete a basis to one of all line numbers, single bits all.
std::vector<std::uint64_t> complete(Gf2Basis basis, std::size_t dimensions) {
  std::vector<std::uint64_t> added;
  for (std::size_t bit = 0; bit < dimensions; ++bit) {
    const std::uint64_t vector = std::uint64_t{1} << bit;
    if (basis.insert(vector)) added.push_back(vector);
  }
  return added;
}

/// The mask whose parity on each vector is the value asked. @pre the vectors are a basis of as many
/// dimensions
std::uint64_t solve_mask(std::vector<std::uint64_t> vectors, std::vector<int> values) {
  std::uint64_t mask = 0;
  for (std::size_t bit = 0; bit < vectors.size(); ++bit) {
    std::size_t pivot = bit;
    while ((vectors[pivot] >> bit & 1) == 0) ++pivot;
    std::swap(vectors[bit], vectors[pivot]);
    std::swap(values[bit], values[pivot]);
    for (std::size_t row = 0; row < vectors.size(); ++row) {
      if (row == bit || (vectors[row] >> bit & 1) == 0) continue;
      vectors[row] ^= vectors[bit];
      values[row] ^= values[bit];
    }
  }
  for (std::size_t bit = 0; bit < vectors.size(); ++bit) {
    if (values[bit] != 0) mask |= std::uint64_t{1} << bit;
  }
  return mask;
}

/// The space of line numbers in three parts: changes that do nothing, bits of the slice number that
/// are XORs, and the rest, behind which stands a remainder.
struct Parts {
  std::vector<std::uint64_t> idle;
  std::vector<std::uint64_t> linear;     // each changes one XOR bit and nothing of the remainder
  std::vector<std::uint64_t> remainder;  // each changes one bit of the number that is divided
};

/// The remainder's part of the hash: slice number (`position`) of a sum of changes.
struct Remainder {
  std::uint32_t divisor = 1;  // odd
  std::vector<std::uint64_t> changes = {};
  std::uint64_t constant = 0;
};

/// Slices that lines of one slice go to by one change.
struct Targets {
  std::array<std::uint32_t, 2> slices{unknown_slice, unknown_slice};
  bool are_two_others = true;  // at most, and not the slice itself

  void add(std::uint32_t from, std::uint32_t to) {
    if (to == from) are_two_others = false;
    if (slices[0] == to || slices[1] == to) return;
    if (slices[0] == unknown_slice) {
      slices[0] = to;
    } else if (slices[1] == unknown_slice) {
      slices[1] = to;
    } else {
      are_two_others = false;
    }
  }
};

/// Labels of the sums of some changes.
class Subspace {
 public:
  Subspace(const Labels& labels, std::vector<std::uint64_t> changes, std::uint32_t origin = 0)
      : changes_(std::move(changes)) {
    for (const std::uint32_t sum : list_sums(changes_)) labels_.push_back(labels[sum ^ origin]);
    for (const std::uint32_t label : labels_) slices_.insert(label);
  }

  std::size_t size() const { return labels_.size(); }
  std::uint32_t operator[](std::size_t sum) const { return labels_[sum]; }
  const std::set<std::uint32_t>& slices() const { return slices_; }

  /// By each slice the slices it goes to; nothing if one goes to itself or to more than two.
  std::optional<std::map<std::uint32_t, Targets>> two_others(std::size_t change) const {
    std::map<std::uint32_t, Targets> targets;
    for (std::size_t sum = 0; sum < labels_.size(); ++sum) {
      Targets& of_slice = targets[labels_[sum]];
      of_slice.add(labels_[sum], labels_[sum ^ change]);
      if (!of_slice.are_two_others) return std::nullopt;
    }
    return targets;
  }

 private:
  std::vector<std::uint64_t> changes_;
  Labels labels_;
  std::set<std::uint32_t> slices_;
};

/// Positions of the slices on the ring that one change moves them along, a step each.
std::optional<std::map<std::uint32_t, std::uint32_t>> go_round(
    const std::map<std::uint32_t, Targets>& targets) {
  std::map<std::uint32_t, std::uint32_t> position;
  std::uint32_t before = unknown_slice;
  std::uint32_t slice = targets.begin()->first;
  while (position.size() < targets.size()) {
    position.emplace(slice, static_cast<std::uint32_t>(position.size()));
    const auto& neighbours = targets.at(slice).slices;
    if (neighbours[1] == unknown_slice) return std::nullopt;
    const std::uint32_t next = neighbours[0] == before ? neighbours[1] : neighbours[0];
    before = std::exchange(slice, next);
    if (position.size() < targets.size() && position.contains(slice)) return std::nullopt;
  }
  return position;
}

/// How far each change moves a slice along the ring, from sums without it to sums with it.
std::optional<std::vector<std::uint32_t>> measure_steps(
    const Subspace& space, const std::map<std::uint32_t, std::uint32_t>& position,
    std::size_t change_count) {
  const auto divisor = static_cast<std::uint32_t>(position.size());
  std::vector<std::uint32_t> steps;
  for (std::size_t change = 0; change < change_count; ++change) {
    const auto step_of = [&](std::size_t sum) {
      const std::size_t changed = sum | std::size_t{1} << change;
      return (position.at(space[changed]) + divisor - position.at(space[sum])) % divisor;
    };
    for (std::size_t sum = 0; sum < space.size(); ++sum) {
      if ((sum >> change & 1) == 0 && step_of(sum) != step_of(0)) return std::nullopt;
    }
    steps.push_back(step_of(0));
  }
  return steps;
}

/// Puts the changes in the order of their bits: each moves slices twice as far as the one before,
/// forwards or backwards. One that moves them backwards has its bit the other way round.
std::optional<Remainder> order_by_doubling(const std::vector<std::uint64_t>& changes,
                                           const std::vector<std::uint32_t>& steps,
                                           std::uint32_t divisor) {
  for (std::size_t first = 0; first < steps.size(); ++first) {
    Remainder remainder{.divisor = divisor};
    std::vector<bool> used(steps.size());
    std::uint64_t wanted = steps[first];
    for (std::size_t bit = 0; bit < steps.size(); ++bit, wanted = 2 * wanted % divisor) {
      std::size_t at = bit == 0 ? first : 0;
      while (at < steps.size() &&
             (used[at] || (steps[at] != wanted && steps[at] != divisor - wanted))) {
        ++at;
      }
      if (at == steps.size()) break;
      used[at] = true;
      remainder.changes.push_back(changes[at]);
      if (steps[at] != wanted) remainder.constant |= std::uint64_t{1} << bit;
    }
    if (remainder.changes.size() == steps.size()) return remainder;
  }
  return std::nullopt;
}

/// The changes of one bit each, out of all sums of `changes`.
std::vector<std::uint64_t> find_single_bits(const Labels& labels,
                                            const std::vector<std::uint64_t>& changes) {
  const Subspace space(labels, changes);
  const Labels sums = list_sums(changes);
  std::vector<std::uint64_t> found;
  for (std::size_t sum = 1; sum < space.size() && found.size() <= changes.size(); ++sum) {
    if (space.two_others(sum)) found.push_back(sums[sum]);
  }
  return found;
}

bool are_independent(const std::vector<std::uint64_t>& vectors) {
  Gf2Basis basis;
  return std::ranges::all_of(vectors, [&](std::uint64_t vector) { return basis.insert(vector); });
}

std::optional<Remainder> find_remainder(const Labels& labels,
                                        const std::vector<std::uint64_t>& changes) {
  const std::vector<std::uint64_t> single = find_single_bits(labels, changes);
  if (single.size() != changes.size() || !are_independent(single)) return std::nullopt;
  const Subspace space(labels, single);
  const auto ring = go_round(*space.two_others(1));
  if (!ring || ring->size() != space.slices().size()) return std::nullopt;
  const auto steps = measure_steps(space, *ring, single.size());
  if (!steps) return std::nullopt;
  return order_by_doubling(single, *steps, static_cast<std::uint32_t>(ring->size()));
}

/// What is divided: bit i is whether changes[i] is in the sum, the other way round where the
/// constant says so.
std::uint64_t remainder_of(const Remainder& remainder, std::size_t sum) {
  return (sum ^ remainder.constant) % remainder.divisor;
}

/// A vector of an XOR bit may move the remainder, too: the sum of it and of the changes that undo
/// that. nullopt if lines with that XOR bit are not parted as those without it.
std::optional<std::uint64_t> clear_of_remainder(const Labels& labels, std::uint64_t vector,
                                                const Remainder& remainder) {
  const Labels sums = list_sums(remainder.changes);
  for (const std::uint32_t shift : sums) {
    Labels slice_of_remainder(remainder.divisor, unknown_slice);
    const auto fits = [&](std::size_t sum) {
      std::uint32_t& slice = slice_of_remainder[remainder_of(remainder, sum)];
      const std::uint32_t label = labels[sums[sum] ^ shift ^ vector];
      if (slice == unknown_slice) slice = label;
      return slice == label;
    };
    std::size_t sum = 0;
    while (sum < sums.size() && fits(sum)) ++sum;
    if (sum == sums.size()) return vector ^ shift;
  }
  return std::nullopt;
}

/// Masks of line numbers, those of XOR bits first.
std::vector<std::uint64_t> make_masks(const Parts& parts) {
  std::vector<std::uint64_t> basis = parts.linear;
  basis.insert(basis.end(), parts.remainder.begin(), parts.remainder.end());
  const std::size_t hashed = basis.size();
  basis.insert(basis.end(), parts.idle.begin(), parts.idle.end());
  std::vector<std::uint64_t> masks;
  for (std::size_t bit = 0; bit < hashed; ++bit) {
    std::vector<int> values(basis.size());
    values[bit] = 1;
    masks.push_back(solve_mask(basis, std::move(values)));
  }
  // With an XOR bit, all bits of the remainder may change at once: of both ways, the smaller mask.
  if (parts.remainder.empty()) return masks;
  const std::size_t first = parts.linear.size();
  for (std::size_t linear = 0; linear < first; ++linear) {
    if ((masks[first] ^ masks[linear]) >= masks[first]) continue;
    for (std::size_t bit = first; bit < masks.size(); ++bit) masks[bit] ^= masks[linear];
  }
  return masks;
}

/// Takes for each remainder the label that most lines have, and counts those that have it.
void fill_order(SliceFunction& function, std::span<const std::uint32_t> labels,
                std::uint64_t line_bytes) {
  std::vector<std::map<std::uint32_t, std::size_t>> votes(function.divisor);
  for (std::size_t line = 0; line < labels.size(); ++line) {
    if (labels[line] == unknown_slice) continue;
    const std::uint64_t x = fold_bits(line * line_bytes, function.masks) ^ function.constant;
    ++votes[x % function.divisor][labels[line]];
  }
  for (const auto& of_remainder : votes) {
    const std::uint32_t label = of_remainder.empty() ? unknown_slice : most_frequent(of_remainder);
    function.order.push_back(label);
    if (label != unknown_slice) function.explained_lines += of_remainder.at(label);
  }
}

/// Each line's label, or that of the lines that no change of the hash parts from it.
Labels vote_by_hash(std::span<const std::uint32_t> labels, const Gf2Basis& idle) {
  std::map<std::uint64_t, std::map<std::uint32_t, std::size_t>> votes;
  for (std::size_t line = 0; line < labels.size(); ++line) {
    if (labels[line] != unknown_slice) ++votes[idle.reduce(line)][labels[line]];
  }
  Labels voted;
  for (std::size_t line = 0; line < labels.size(); ++line) {
    const auto place = votes.find(idle.reduce(line));
    voted.push_back(place == votes.end() ? unknown_slice : most_frequent(place->second));
  }
  return voted;
}

/// What lines of one slice differ by. Masks that are even on all of it are XOR bits of the slice
/// number.
Gf2Basis differences_within_slices(const Labels& labels) {
  std::map<std::uint32_t, std::size_t> first;
  Gf2Basis differences;
  for (std::size_t line = 0; line < labels.size(); ++line) {
    differences.insert(first.try_emplace(labels[line], line).first->second ^ line);
  }
  return differences;
}

SliceFunction no_function(std::size_t known_lines, std::string reason) {
  SliceFunction function;
  function.known_lines = known_lines;
  function.reason = std::move(reason);
  return function;
}

}  // namespace

SliceFunction fit_slice_function(std::span<const std::uint32_t> labels, std::uint64_t line_bytes) {
  require(std::has_single_bit(labels.size()), "a page must have 2^n lines");
  const auto dimensions = static_cast<std::size_t>(std::countr_zero(labels.size()));
  const auto known = static_cast<std::size_t>(
      std::ranges::count_if(labels, [](auto label) { return label != unknown_slice; }));
  const Gf2Basis idle = find_idle_changes(labels);
  const Labels voted = vote_by_hash(labels, idle);
  const std::set<std::uint32_t> slices(voted.begin(), voted.end());
  if (slices.contains(unknown_slice) || slices.size() < 2) {
    return no_function(known, "too few lines have a known slice");
  }
  const Gf2Basis differences = differences_within_slices(voted);
  const std::size_t linear_bits = dimensions - differences.rank();
  const std::uint64_t linear_slices = std::uint64_t{1} << linear_bits;
  const std::string no_hash = fmt::format("{} slices by no hash with a remainder", slices.size());
  if (slices.size() % linear_slices != 0) return no_function(known, no_hash);

  Parts parts{.idle = idle.rows(), .linear = complete(differences, dimensions), .remainder = {}};
  Remainder remainder;
  if (slices.size() > linear_slices) {
    // Of the differences within slices those that are not idle.
    std::vector<std::uint64_t> hashed;
    Gf2Basis spanned = idle;
    for (const std::uint64_t row : differences.rows()) {
      if (spanned.insert(row)) hashed.push_back(row);
    }
    const auto found = find_remainder(voted, hashed);
    if (!found || found->divisor * linear_slices != slices.size()) {
      return no_function(known, no_hash);
    }
    remainder = *found;
    parts.remainder = remainder.changes;
    for (std::uint64_t& vector : parts.linear) {
      const auto cleared = clear_of_remainder(voted, vector, remainder);
      if (!cleared) return no_function(known, no_hash);
      vector = *cleared;
    }
  } else if (differences.rank() != idle.rank()) {
    return no_function(known, no_hash);
  }

  SliceFunction function;
  function.divisor = static_cast<std::uint32_t>(slices.size());
  function.known_lines = known;
  for (const std::uint64_t mask : make_masks(parts)) function.masks.push_back(mask * line_bytes);
  function.constant = remainder.constant << linear_bits;
  fill_order(function, labels, line_bytes);
  const auto explained = static_cast<double>(function.explained_lines);
  const std::set<std::uint32_t> ordered(function.order.begin(), function.order.end());
  if (explained < least_explained * static_cast<double>(known) || ordered.size() != slices.size()) {
    return no_function(known, fmt::format("the best hash explains {} of {} lines",
                                          function.explained_lines, known));
  }
  return function;
}

std::uint32_t slice_of(const SliceFunction& function, std::uint64_t offset_bytes) {
  const std::uint64_t x = fold_bits(offset_bytes, function.masks) ^ function.constant;
  return function.order[x % function.divisor];
}

std::string describe(const SliceFunction& function) {
  if (!function.is_known()) return "unresolved";
  std::vector<std::string> bits;
  for (const std::uint64_t mask : function.masks) {
    std::vector<int> places;
    for (int bit = 0; bit < 64; ++bit) {
      if ((mask >> bit & 1) != 0) places.push_back(bit);
    }
    bits.push_back(fmt::format("{}", fmt::join(places, "^")));
  }
  const std::string hash = fmt::format("{}", fmt::join(bits, ", "));
  if (std::has_single_bit(function.divisor)) return hash;
  return fmt::format("x mod {}, x: {}", function.divisor, hash);
}

}  // namespace sonde
