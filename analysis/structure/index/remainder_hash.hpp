// Finds the part of a slice function that is a remainder by an odd number, from how changes of the
// line number move lines between slices. slice_function.cpp finds the rest.
#pragma once

#include "analysis/structure/index/index_function.hpp"

#include <cstdint>
#include <optional>
#include <vector>

namespace sonde {

/// Label of a line whose slice is unknown.
inline constexpr std::uint32_t unknown_slice = ~0U;

/// The mask under which some vectors have given parities. Each equation is a vector; if its parity
/// is odd, it also has the bit `odd`, which lies above all bits of vectors.
/// @pre as many independent equations as the vectors have bits
std::uint64_t mask_of_parities(const Gf2Basis& equations, std::uint64_t odd);

/// The slice follows from x mod divisor. Bit i of x says whether changes[i], a vector of line
/// number bits, was made; bits of `constant` are inverted.
struct Remainder {
  std::uint32_t divisor = 1;  // odd
  std::vector<std::uint64_t> changes = {};
  std::uint64_t constant = 0;
};

/// Finds the changes that change one bit of x each. Such a change moves every slice to at most two
/// others, 2^i steps before and after it on the ring of slices; other changes move it to more.
/// @param labels slice of each of the 2^n lines of a page, all known
/// @param changes basis of the changes that the remainder depends on
/// @return nullopt if no remainder explains the labels
std::optional<Remainder> find_remainder(const std::vector<std::uint32_t>& labels,
                                        const std::vector<std::uint64_t>& changes);

/// A remainder with two orders of slices: `across` keeps the remainder, but changes the order.
struct RemainderOfHalves {
  Remainder remainder;
  std::uint64_t across = 0;
};

/// Finds a mask that splits the sums of `changes` into two halves, each with the slices of a
/// remainder. A change of all bits of x reverses an order: within a half it moves every slice to
/// one other. If it moves lines of a slice to two others, the lines lie in different halves: each
/// such pair is an equation for the mask.
/// @return nullopt if there is no such mask, or if the orders, once reversed, differ too little
std::optional<RemainderOfHalves> find_remainder_of_halves(
    const std::vector<std::uint32_t>& labels, const std::vector<std::uint64_t>& changes);

/// The same with the mask of line number bits known from another page.
std::optional<RemainderOfHalves> find_remainder_by_mask(const std::vector<std::uint32_t>& labels,
                                                        const std::vector<std::uint64_t>& changes,
                                                        std::uint64_t mask);

/// The remainder after the changes that the bits of `sum` choose.
std::uint64_t remainder_of(const Remainder& remainder, std::size_t sum);

/// A change that is none of the remainder's may still change the remainder. @return the change
/// together with changes of the remainder that undo this; nullopt if its lines follow no remainder
std::optional<std::uint64_t> clear_of_remainder(const std::vector<std::uint32_t>& labels,
                                                std::uint64_t change, const Remainder& remainder);

}  // namespace sonde
