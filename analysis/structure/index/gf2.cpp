// Gauss and Jordan over GF(2).
#include "analysis/structure/index/gf2.hpp"

#include <algorithm>
#include <bit>

namespace sonde {
namespace {

std::uint64_t lowest_bit(std::uint64_t vector) { return vector & (~vector + 1); }

}  // namespace

std::uint64_t Gf2Basis::reduce(std::uint64_t vector) const {
  for (std::uint64_t row : rows_) {
    if ((vector & lowest_bit(row)) != 0) vector ^= row;
  }
  return vector;
}

bool Gf2Basis::insert(std::uint64_t vector) {
  vector = reduce(vector);
  if (vector == 0) return false;
  const std::uint64_t pivot = lowest_bit(vector);
  for (std::uint64_t& row : rows_) {
    if ((row & pivot) != 0) row ^= vector;
  }
  const auto place =
      std::ranges::find_if(rows_, [&](std::uint64_t row) { return lowest_bit(row) > pivot; });
  rows_.insert(place, vector);
  return true;
}

Gf2Basis orthogonal_complement(const Gf2Basis& span, std::uint64_t bits) {
  std::uint64_t pivots = 0;
  for (std::uint64_t row : span.rows()) pivots |= lowest_bit(row);
  Gf2Basis complement;
  for (std::uint64_t free = bits & ~pivots; free != 0; free &= free - 1) {
    std::uint64_t mask = lowest_bit(free);
    for (std::uint64_t row : span.rows()) {
      if ((row & lowest_bit(free)) != 0) mask |= lowest_bit(row);
    }
    complement.insert(mask & bits);
  }
  return complement;
}

std::uint64_t fold_bits(std::uint64_t value, const std::vector<std::uint64_t>& masks) {
  std::uint64_t folded = 0;
  for (std::size_t i = 0; i < masks.size(); ++i) {
    folded |= (static_cast<std::uint64_t>(std::popcount(value & masks[i])) & 1U) << i;
  }
  return folded;
}

}  // namespace sonde
