// Linear algebra over GF(2) on words: a vector is a mask of address bits. Index functions of
// caches are linear in it (XOR of address bits), see index_function.hpp.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace sonde {

/// A growing set of independent vectors, each reduced by the others at its pivot, its lowest bit.
class Gf2Basis {
 public:
  /// What is left of `vector` when every pivot is cancelled; 0 if it lies in the span.
  std::uint64_t reduce(std::uint64_t vector) const;

  /// Adds a vector. @return whether it was independent of those before
  bool insert(std::uint64_t vector);

  std::size_t rank() const { return rows_.size(); }

  /// Reduced row echelon form, ascending by lowest bit: the same for every basis of the span. A
  /// single bit that lies in the span is a row of its own.
  const std::vector<std::uint64_t>& rows() const { return rows_; }

 private:
  std::vector<std::uint64_t> rows_;
};

/// All masks within `bits` whose parity is even on every vector of `span`.
Gf2Basis orthogonal_complement(const Gf2Basis& span, std::uint64_t bits);

/// Parities of `value` under each mask, the first in bit 0. @pre at most 64 masks
std::uint64_t fold_bits(std::uint64_t value, const std::vector<std::uint64_t>& masks);

}  // namespace sonde
