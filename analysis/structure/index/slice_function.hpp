// From the line of a page to the slice of a cache that holds it: XORs of offset bits where slices
// are a power of two, and a hash with a remainder behind it where they are not. Input are the
// slices that lines were seen in, whatever their numbers. Method: docs/methods/slices.md.
#pragma once

#include "analysis/structure/index/remainder_hash.hpp"

#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace sonde {

/// Slice of a line of the page: order[(x ^ constant) mod divisor], where bit i of x is the parity
/// of the offset in bytes under masks[i]. There may be two orders, the second for offsets that are
/// odd under a mask: on H200s, pairs of memory channels change places by it.
struct SliceFunction {
  std::vector<std::uint64_t> masks;
  std::uint32_t divisor = 0;
  std::uint64_t constant = 0;                      // of this page: what address bits above it add
  std::uint64_t choosing_mask = 0;                 // of one of two orders; 0: there is one
  std::vector<std::vector<std::uint32_t>> orders;  // label of each remainder
  std::size_t known_lines = 0;                     // lines with a label
  std::size_t explained_lines = 0;                 // of those, by the function
  std::string reason;                              // no masks: why none was found

  bool is_known() const { return !masks.empty(); }
};

/// Finds the function, if it is one of this kind and explains 99 % of the lines.
/// @param labels one for each line of a page in the order of their offsets, 2^n lines; numbers
///   from 0 without gaps, or unknown_slice
/// @param line_bytes a power of two
/// @param choosing_mask of two orders, where it is known from another page; 0: it is searched for
SliceFunction fit_slice_function(std::span<const std::uint32_t> labels, std::uint64_t line_bytes,
                                 std::uint64_t choosing_mask = 0);

/// Label of the line at this offset. @pre the function is known
std::uint32_t slice_of(const SliceFunction& function, std::uint64_t offset_bytes);

/// "8^11^14, 9^12": slices of a power of two; "x mod 47, x: 8^11, 10^13, ...": of another number;
/// ", in one of two orders by 9^16" where there are two. Without constant and orders, which differ
/// from page to page.
std::string describe(const SliceFunction& function);

}  // namespace sonde
