// Tries all sums of changes: a page has a few thousand. One change of a single bit gives the ring
// of slices; the steps of the other changes are measured on this ring.
#include "analysis/structure/index/remainder_hash.hpp"

#include "analysis/structure/index/index_function.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <map>
#include <set>
#include <utility>

namespace sonde {
namespace {

using Labels = std::vector<std::uint32_t>;

/// All sums (XORs) of the vectors; bit i of an index tells whether vectors[i] is part of the sum.
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

/// The slices to which one change moves the lines of one slice.
struct Targets {
  std::array<std::uint32_t, 2> slices{unknown_slice, unknown_slice};
  bool are_two_others = true;  // at most two, and none is the slice itself

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

/// Labels of all sums of some changes.
class Subspace {
 public:
  Subspace(const Labels& labels, const std::vector<std::uint64_t>& changes) {
    for (const std::uint32_t sum : list_sums(changes)) labels_.push_back(labels[sum]);
    for (const std::uint32_t label : labels_) slices_.insert(label);
  }

  std::size_t size() const { return labels_.size(); }
  std::uint32_t operator[](std::size_t sum) const { return labels_[sum]; }
  const std::set<std::uint32_t>& slices() const { return slices_; }

  /// The targets of each slice; nullopt if a slice moves to itself or to more than two.
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
  Labels labels_;
  std::set<std::uint32_t> slices_;
};

/// Positions of the slices on the ring along which one change moves them by one step.
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

/// Number of steps on the ring by which each change moves a slice, from a sum without it.
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

/// Orders the changes by their bit of x: each moves slices twice as far as the one before, forwards
/// or backwards. A change that moves them backwards has an inverted bit.
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

/// The changes of a single bit of x, out of all sums of `changes`.
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

/// The mask that separates the sums of each slice by the slice to which the change moves them.
/// nullopt if there is no such mask or are several, or if a slice moves to three others.
std::optional<std::uint64_t> find_parting_mask(const Subspace& space, std::size_t change) {
  struct OfSlice {
    std::size_t first = 0;
    std::uint32_t to = 0;
    std::uint32_t other = unknown_slice;
  };
  std::map<std::uint32_t, OfSlice> of_slices;
  for (std::size_t sum = 0; sum < space.size(); ++sum) {
    const std::uint32_t to = space[sum ^ change];
    OfSlice& slice = of_slices.try_emplace(space[sum], OfSlice{sum, to}).first->second;
    if (to == slice.to || to == slice.other) continue;
    if (slice.other != unknown_slice) return std::nullopt;
    slice.other = to;
  }
  // Equations over GF(2); the bit above those of the sum is the wanted parity.
  const auto dimensions = static_cast<std::size_t>(std::countr_zero(space.size()));
  const std::uint64_t odd = space.size();
  Gf2Basis equations;
  for (std::size_t sum = 0; sum < space.size(); ++sum) {
    const OfSlice& slice = of_slices.at(space[sum]);
    if (slice.other == unknown_slice) continue;
    const bool is_parted = space[sum ^ change] != slice.to;
    equations.insert((sum ^ slice.first) | (is_parted ? odd : 0));
    if (equations.reduce(odd) == 0) return std::nullopt;
  }
  if (equations.rank() != dimensions) return std::nullopt;
  return mask_of_parities(equations, odd);
}

/// Changes that keep the parity under a mask over `changes`, and one change that does not.
struct Halves {
  std::vector<std::uint64_t> within;
  std::uint64_t across = 0;
};

Halves part_by(std::uint64_t mask, const std::vector<std::uint64_t>& changes) {
  const auto odd = static_cast<std::size_t>(std::countr_zero(mask));
  Halves halves{.within = {}, .across = changes[odd]};
  for (std::size_t i = 0; i < changes.size(); ++i) {
    if (i == odd) continue;
    halves.within.push_back((mask >> i & 1) != 0 ? changes[i] ^ halves.across : changes[i]);
  }
  return halves;
}

bool are_independent(const std::vector<std::uint64_t>& vectors) {
  Gf2Basis basis;
  return std::ranges::all_of(vectors, [&](std::uint64_t vector) { return basis.insert(vector); });
}

}  // namespace

std::uint64_t mask_of_parities(const Gf2Basis& equations, std::uint64_t odd) {
  std::uint64_t mask = 0;
  for (const std::uint64_t row : equations.rows()) {
    if ((row & odd) != 0) mask |= row & ~odd;
  }
  return mask;
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

namespace {

std::optional<RemainderOfHalves> find_in_halves(const Labels& labels, const Halves& halves) {
  auto remainder = find_remainder(labels, halves.within);
  if (!remainder) return std::nullopt;
  const auto across = clear_of_remainder(labels, halves.across, *remainder);
  if (!across) return std::nullopt;
  return RemainderOfHalves{std::move(*remainder), *across};
}

}  // namespace

std::optional<RemainderOfHalves> find_remainder_of_halves(
    const Labels& labels, const std::vector<std::uint64_t>& changes) {
  const Subspace space(labels, changes);
  for (std::size_t change = 1; change < space.size(); ++change) {
    const auto mask = find_parting_mask(space, change);
    if (!mask || *mask == 0) continue;
    if (auto found = find_in_halves(labels, part_by(*mask, changes))) return found;
  }
  return std::nullopt;
}

std::optional<RemainderOfHalves> find_remainder_by_mask(const Labels& labels,
                                                        const std::vector<std::uint64_t>& changes,
                                                        std::uint64_t mask) {
  std::uint64_t of_changes = 0;
  for (std::size_t i = 0; i < changes.size(); ++i) {
    if (std::popcount(changes[i] & mask) % 2 != 0) of_changes |= std::uint64_t{1} << i;
  }
  return of_changes == 0 ? std::nullopt : find_in_halves(labels, part_by(of_changes, changes));
}

std::uint64_t remainder_of(const Remainder& remainder, std::size_t sum) {
  return (sum ^ remainder.constant) % remainder.divisor;
}

std::optional<std::uint64_t> clear_of_remainder(const Labels& labels, std::uint64_t change,
                                                const Remainder& remainder) {
  const Labels sums = list_sums(remainder.changes);
  for (const std::uint32_t shift : sums) {
    Labels slice_of_remainder(remainder.divisor, unknown_slice);
    const auto fits = [&](std::size_t sum) {
      std::uint32_t& slice = slice_of_remainder[remainder_of(remainder, sum)];
      const std::uint32_t label = labels[sums[sum] ^ shift ^ change];
      if (slice == unknown_slice) slice = label;
      return slice == label;
    };
    std::size_t sum = 0;
    while (sum < sums.size() && fits(sum)) ++sum;
    if (sum == sums.size()) return change ^ shift;
  }
  return std::nullopt;
}

}  // namespace sonde
