// From a line of a page to the cache slice that holds it: XORs of offset bits if the number of
// slices is a power of two, else a hash and a remainder. Input: the slice of each line, with slices
// numbered arbitrarily. Method: docs/methods/slices.md.
#pragma once

#include "analysis/structure/index/remainder_hash.hpp"

#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace sonde {

/// Slice of a line of the page: order[(x ^ constant) mod divisor]; bit i of x is the parity of the
/// byte offset under masks[i]. If there are two orders, the second holds for offsets with odd
/// parity under choosing_mask: on H200s pairs of memory channels swap places.
struct SliceFunction {
  std::vector<std::uint64_t> masks;
  std::uint32_t divisor = 0;
  std::uint64_t constant =
      0;  // differs from page to page: the effect of address bits above the page
  std::uint64_t choosing_mask = 0;  // chooses between two orders; 0: there is one order
  std::vector<std::vector<std::uint32_t>> orders;  // label of each remainder
  std::size_t known_lines = 0;                     // lines with a label
  std::size_t explained_lines = 0;                 // known lines that follow the function
  std::string reason;                              // why there are no masks

  bool is_known() const { return !masks.empty(); }
};

/// Finds a function of this kind that explains 99 % of the lines.
/// @param labels of the 2^n lines of a page, by offset; numbered from 0 without gaps, or
/// unknown_slice
/// @param line_bytes a power of two
/// @param choosing_mask if known from another page; 0: it is searched for
SliceFunction fit_slice_function(std::span<const std::uint32_t> labels, std::uint64_t line_bytes,
                                 std::uint64_t choosing_mask = 0);

/// Label of the line at this offset. @pre the function is known
std::uint32_t slice_of(const SliceFunction& function, std::uint64_t offset_bytes);

/// "8^11^14, 9^12" if the number of slices is a power of two, else "x mod 47, x: 8^11, 10^13, ...";
/// with two orders also ", in one of two orders by 9^16". Without the constant and the orders,
/// which differ between pages.
std::string describe(const SliceFunction& function);

}  // namespace sonde
