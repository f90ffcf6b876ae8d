// Changes of the offset reveal the hash. If a change keeps x, every line stays in its slice. If it
// changes bit i of x, each slice moves to two others, 2^i before and after it. If it changes
// several bits, each slice moves to more.
#include "analysis/structure/index/slice_function.hpp"

#include "analysis/structure/index/index_function.hpp"
#include "base/error.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <bit>
#include <map>
#include <optional>
#include <set>
#include <utility>

namespace sonde {
namespace {

/// Of all known lines: some labels may be wrong.
constexpr double least_labels_explained = 0.99;

using Labels = std::vector<std::uint32_t>;

/// True if hardly any line leaves its slice when its number changes by `change`.
bool keeps_slices(std::span<const std::uint32_t> labels, std::uint32_t change) {
  std::size_t moved = 0;
  const auto most_moved = static_cast<std::size_t>(2 * (1 - least_labels_explained) *
                                                   static_cast<double>(labels.size()));
  for (std::size_t line = 0; line < labels.size(); ++line) {
    const std::uint32_t before = labels[line];
    const std::uint32_t after = labels[line ^ change];
    if (before == unknown_slice || after == unknown_slice || before == after) continue;
    if (++moved > most_moved) return false;
  }
  return true;
}

/// The changes of line numbers that keep every bit of the hash.
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

/// Single bits that complete the basis to one of all line numbers.
std::vector<std::uint64_t> complete(Gf2Basis basis, std::size_t dimensions) {
  std::vector<std::uint64_t> added;
  for (std::size_t bit = 0; bit < dimensions; ++bit) {
    const std::uint64_t vector = std::uint64_t{1} << bit;
    if (basis.insert(vector)) added.push_back(vector);
  }
  return added;
}

/// A basis of line numbers in parts: changes that do nothing, changes of one XOR bit of the slice
/// number each, and changes of one bit of the number whose remainder is taken.
struct Parts {
  std::vector<std::uint64_t> idle = {};
  std::vector<std::uint64_t> linear = {};
  Remainder remainder = {};
  std::uint64_t across = 0;  // changes between two orders of slices; 0: there is one order
};

/// Masks of line numbers: XOR bits, bits of the remainder, then the mask of the order, if any.
std::vector<std::uint64_t> make_masks(const Parts& parts) {
  std::vector<std::uint64_t> basis = parts.linear;
  basis.insert(basis.end(), parts.remainder.changes.begin(), parts.remainder.changes.end());
  const std::size_t ordered = basis.size();
  if (parts.across != 0) basis.push_back(parts.across);
  const std::size_t hashed = basis.size();
  basis.insert(basis.end(), parts.idle.begin(), parts.idle.end());
  std::vector<std::uint64_t> masks;
  for (std::size_t bit = 0; bit < hashed; ++bit) {
    const std::uint64_t odd = std::uint64_t{1} << basis.size();
    Gf2Basis equations;
    for (std::size_t i = 0; i < basis.size(); ++i)
      equations.insert(basis[i] | (i == bit ? odd : 0));
    masks.push_back(mask_of_parities(equations, odd));
  }
  // A mask that is no remainder bit may be added to all masks of the remainder: this only reverses
  // the order of slices. Takes the smaller masks.
  if (parts.remainder.changes.empty()) return masks;
  const std::size_t first = parts.linear.size();
  for (std::size_t other = 0; other < hashed; ++other) {
    if (other >= first && other < ordered) continue;
    if ((masks[first] ^ masks[other]) >= masks[first]) continue;
    for (std::size_t bit = first; bit < ordered; ++bit) masks[bit] ^= masks[other];
  }
  return masks;
}

struct SlicePlace {
  std::size_t order = 0;
  std::size_t remainder = 0;
};

SlicePlace place_of(const SliceFunction& function, std::uint64_t offset_bytes) {
  const std::uint64_t x = fold_bits(offset_bytes, function.masks) ^ function.constant;
  const bool is_second = std::popcount(offset_bytes & function.choosing_mask) % 2 != 0;
  return {.order = is_second ? 1U : 0U, .remainder = x % function.divisor};
}

/// Gives each remainder of each order the label of most of its lines, and counts these lines.
void fill_order(SliceFunction& function, std::span<const std::uint32_t> labels,
                std::uint64_t line_bytes) {
  const std::size_t orders = function.choosing_mask == 0 ? 1 : 2;
  using Votes = std::vector<std::map<std::uint32_t, std::size_t>>;  // by remainder
  std::vector<Votes> votes(orders, Votes(function.divisor));
  for (std::size_t line = 0; line < labels.size(); ++line) {
    if (labels[line] == unknown_slice) continue;
    const SlicePlace place = place_of(function, line * line_bytes);
    ++votes[place.order][place.remainder][labels[line]];
  }
  for (const Votes& of_order : votes) {
    std::vector<std::uint32_t>& order = function.orders.emplace_back();
    for (const auto& of_remainder : of_order) {
      order.push_back(of_remainder.empty() ? unknown_slice : most_frequent(of_remainder));
      if (!of_remainder.empty()) function.explained_lines += of_remainder.at(order.back());
    }
  }
}

bool has_all(const std::vector<std::uint32_t>& order, std::size_t slices) {
  return std::set<std::uint32_t>(order.begin(), order.end()).size() == slices;
}

/// Gives each line the most frequent label among the lines with the same hash.
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

/// Differences of lines in one slice. Masks with even parity on all of them are XOR bits.
Gf2Basis differences_within_slices(const Labels& labels) {
  std::map<std::uint32_t, std::size_t> first;
  Gf2Basis differences;
  for (std::size_t line = 0; line < labels.size(); ++line) {
    differences.insert(first.try_emplace(labels[line], line).first->second ^ line);
  }
  return differences;
}

/// nullopt if no hash with a remainder gives these slices.
std::optional<Parts> take_apart(const Labels& labels, std::size_t slices, const Gf2Basis& idle,
                                std::uint64_t choosing_mask) {
  const Gf2Basis differences = differences_within_slices(labels);
  const auto dimensions = static_cast<std::size_t>(std::countr_zero(labels.size()));
  const std::uint64_t linear_slices = std::uint64_t{1} << (dimensions - differences.rank());
  if (slices % linear_slices != 0) return std::nullopt;
  Parts parts{.idle = idle.rows(), .linear = complete(differences, dimensions)};
  if (slices == linear_slices) {
    return differences.rank() == idle.rank() ? std::optional(std::move(parts)) : std::nullopt;
  }
  std::vector<std::uint64_t> hashed;  // differences within slices that are not idle
  Gf2Basis spanned = idle;
  for (const std::uint64_t row : differences.rows()) {
    if (spanned.insert(row)) hashed.push_back(row);
  }
  auto remainder = find_remainder(labels, hashed);
  if (!remainder) {
    auto halves = choosing_mask == 0 ? find_remainder_of_halves(labels, hashed)
                                     : find_remainder_by_mask(labels, hashed, choosing_mask);
    if (halves) {
      remainder = std::move(halves->remainder);
      parts.across = halves->across;
    }
  }
  if (!remainder || remainder->divisor * linear_slices != slices) return std::nullopt;
  for (std::uint64_t& change : parts.linear) {
    const auto cleared = clear_of_remainder(labels, change, *remainder);
    if (!cleared) return std::nullopt;
    change = *cleared;
  }
  parts.remainder = std::move(*remainder);
  return parts;
}

SliceFunction no_function(std::size_t known_lines, std::string reason) {
  SliceFunction function;
  function.known_lines = known_lines;
  function.reason = std::move(reason);
  return function;
}

}  // namespace

SliceFunction fit_slice_function(std::span<const std::uint32_t> labels, std::uint64_t line_bytes,
                                 std::uint64_t choosing_mask) {
  require(std::has_single_bit(labels.size()), "a page must have 2^n lines");
  const auto known = static_cast<std::size_t>(
      std::ranges::count_if(labels, [](auto label) { return label != unknown_slice; }));
  const Gf2Basis idle = find_idle_changes(labels);
  const Labels voted = vote_by_hash(labels, idle);
  const std::set<std::uint32_t> slices(voted.begin(), voted.end());
  if (slices.contains(unknown_slice) || slices.size() < 2) {
    return no_function(known, "too few lines have a known slice");
  }
  const auto parts = take_apart(voted, slices.size(), idle, choosing_mask / line_bytes);
  if (!parts) {
    return no_function(
        known, fmt::format("no hash with a remainder gives these {} slices", slices.size()));
  }
  SliceFunction function;
  function.divisor = static_cast<std::uint32_t>(slices.size());
  function.known_lines = known;
  for (const std::uint64_t mask : make_masks(*parts)) function.masks.push_back(mask * line_bytes);
  if (parts->across != 0) {
    function.choosing_mask = function.masks.back();
    function.masks.pop_back();
  }
  function.constant = parts->remainder.constant << parts->linear.size();
  fill_order(function, labels, line_bytes);
  const auto explained = static_cast<double>(function.explained_lines);
  const bool are_whole = std::ranges::all_of(
      function.orders, [&](const auto& order) { return has_all(order, slices.size()); });
  if (explained < least_labels_explained * static_cast<double>(known) || !are_whole) {
    return no_function(known, fmt::format("the best hash explains {} of {} lines",
                                          function.explained_lines, known));
  }
  return function;
}

std::uint32_t slice_of(const SliceFunction& function, std::uint64_t offset_bytes) {
  const SlicePlace place = place_of(function, offset_bytes);
  return function.orders[place.order][place.remainder];
}

std::string describe(const SliceFunction& function) {
  if (!function.is_known()) return "unresolved";
  std::vector<std::string> bits;
  for (const std::uint64_t mask : function.masks) bits.push_back(describe_mask(mask));
  const std::string hash = fmt::format("{}", fmt::join(bits, ", "));
  if (std::has_single_bit(function.divisor)) return hash;
  const std::string text = fmt::format("x mod {}, x: {}", function.divisor, hash);
  if (function.choosing_mask == 0) return text;
  return fmt::format("{}, in one of two orders by {}", text, describe_mask(function.choosing_mask));
}

}  // namespace sonde
