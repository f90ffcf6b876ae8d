// The part of a slice function that is a remainder by an odd number, found from what changes of the
// line number do to the slices of a page. Used by slice_function.cpp, which finds the rest.
#pragma once

#include "analysis/structure/index/index_function.hpp"

#include <cstdint>
#include <optional>
#include <vector>

namespace sonde {

/// Label of a line whose slice is not known.
inline constexpr std::uint32_t unknown_slice = ~0U;

/// The mask under which vectors have the parities that equations over GF(2) ask for: each is a
/// vector, with the bit `odd` above those of all vectors where its parity is odd.
/// @pre as many independent equations as vectors have bits
std::uint64_t mask_of_parities(const Gf2Basis& equations, std::uint64_t odd);

/// A number, of which bit i tells whether changes[i] (a vector of line number bits) was made, the
/// other way round where the constant has that bit; and what divides it.
struct Remainder {
  std::uint32_t divisor = 1;  // odd
  std::vector<std::uint64_t> changes = {};
  std::uint64_t constant = 0;
};

/// Finds the changes of one bit each: each takes every slice to at most two others, a power of two
/// steps before and behind it on the ring of slices, where changes of more bits take it to more.
/// @param labels slice of each line of a page, all known, numbers of lines from 0 to 2^n - 1
/// @param changes basis of the changes that the remainder depends on
/// @return nullopt if no remainder does so
std::optional<Remainder> find_remainder(const std::vector<std::uint32_t>& labels,
                                        const std::vector<std::uint64_t>& changes);

/// A remainder by which slices come in one of two orders: `across` does not change it, but takes
/// lines of each remainder from their slice in the one order to that in the other.
struct RemainderOfHalves {
  Remainder remainder;
  std::uint64_t across = 0;
};

/// Finds the mask that parts the sums of `changes` in two halves, in each of which slices are those
/// of a remainder. A change of all bits of the remainder turns its order round: in each half it
/// takes every slice to one other. So lines of a slice that it takes to two lie in different
/// halves, which gives the mask bit by bit.
/// @return nullopt if there is no such mask, or if the orders differ too little when turned round
std::optional<RemainderOfHalves> find_remainder_of_halves(
    const std::vector<std::uint32_t>& labels, const std::vector<std::uint64_t>& changes);

/// The same for a mask of line number bits that is known, from another page.
std::optional<RemainderOfHalves> find_remainder_by_mask(const std::vector<std::uint32_t>& labels,
                                                        const std::vector<std::uint64_t>& changes,
                                                        std::uint64_t mask);

/// The remainder behind a sum of changes, which are chosen by the bits of `sum`.
std::uint64_t remainder_of(const Remainder& remainder, std::size_t sum);

/// A change outside of the remainder's may move the remainder, too: the sum of it and of those of
/// the remainder that undo that. nullopt if lines so changed are not parted as those that are not.
std::optional<std::uint64_t> clear_of_remainder(const std::vector<std::uint32_t>& labels,
                                                std::uint64_t change, const Remainder& remainder);

}  // namespace sonde
