// The set of a line under an index function, and the function in the words of a reader: bits and
// XORs of bits, lowest first.
#include "analysis/structure/index/index_function.hpp"

#include "base/units.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <bit>

namespace sonde {
namespace {

constexpr std::uint32_t most_sets = 1 << 20;

std::vector<int> bits_of(std::uint64_t mask) {
  std::vector<int> bits;
  for (; mask != 0; mask &= mask - 1) bits.push_back(std::countr_zero(mask));
  return bits;
}

/// "7-8, 11" of bits 7, 8 and 11. @pre ascending
std::vector<std::string> join_runs(const std::vector<int>& bits) {
  std::vector<std::string> runs;
  for (std::size_t i = 0; i < bits.size();) {
    std::size_t end = i + 1;
    while (end < bits.size() && bits[end] == bits[end - 1] + 1) ++end;
    runs.push_back(end - i == 1 ? std::to_string(bits[i])
                                : fmt::format("{}-{}", bits[i], bits[end - 1]));
    i = end;
  }
  return runs;
}

}  // namespace

bool can_number_sets(const IndexFunction& index) {
  return index.kind != IndexKind::unresolved && index.sets > 0 && index.sets <= most_sets;
}

std::uint64_t set_of(const IndexFunction& index, std::uint64_t offset_bytes) {
  const std::uint64_t address = index.buffer_address + offset_bytes;
  if (index.kind == IndexKind::modulo) return address / index.granularity_bytes % index.sets;
  return fold_bits(address, index.masks);
}

std::string describe(const IndexFunction& function) {
  switch (function.kind) {
    case IndexKind::one_set: return "one set";
    case IndexKind::unresolved: return "unresolved";
    case IndexKind::modulo:
      return fmt::format("(address / {}) mod {}",
                         format_bytes(static_cast<double>(function.granularity_bytes)),
                         function.sets);
    case IndexKind::bit_field:
    case IndexKind::xor_masks: break;
  }
  std::vector<int> plain;
  std::vector<std::string> folded;
  for (std::uint64_t mask : function.masks) {
    if (std::has_single_bit(mask)) {
      plain.push_back(std::countr_zero(mask));
    } else {
      folded.push_back(fmt::format("{}", fmt::join(bits_of(mask), "^")));
    }
  }
  std::vector<std::string> parts = join_runs(plain);
  parts.insert(parts.end(), folded.begin(), folded.end());
  return fmt::format("{} {}", function.masks.size() == 1 ? "bit" : "bits", fmt::join(parts, ", "));
}

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
