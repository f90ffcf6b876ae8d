// From lines whose sets are known to the function of the address that chooses the set: lines were
// sorted into sets by who evicts whom, so sets carry arbitrary labels and a few are wrong.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace sonde {

/// One line whose set is known: sets are numbered arbitrarily.
struct PlacedLine {
  std::uint64_t offset_bytes = 0;
  std::uint32_t set = 0;
};

enum class IndexKind { one_set, bit_field, xor_masks, modulo, unresolved };

struct IndexFunction {
  IndexKind kind = IndexKind::unresolved;
  /// Bit i of the set number is the parity of the offset under masks[i]. Reduced row echelon form
  /// with the lowest bits as pivots: of all bases that give the same sets the one with most single
  /// bits. A bit field has one bit in each mask.
  std::vector<std::uint64_t> masks;
  std::uint64_t origin_bytes = 0;       // masks are of offset + origin: the buffer is not aligned
  std::uint64_t granularity_bytes = 0;  // modulo: set = (offset / granularity_bytes) mod sets
  std::uint32_t sets = 0;
  double agreement = 0;          // share of lines that follow the function
  std::uint64_t known_bits = 0;  // offset bits that varied, and not only along with lower ones;
                                 // nothing is known of the others
  std::string reason;            // unresolved: why
};

/// The simplest function that puts the lines into sets as they were found, up to the names of the
/// sets: one set, a field of offset bits, XORs of offset bits (GF(2)-linear), or a modulo.
/// Method: docs/methods/index-function.md. Up to about 1 % of the lines may carry a wrong set.
/// @param line_bytes the smallest granularity of a modulo
IndexFunction fit_index_function(const std::vector<PlacedLine>& lines, std::uint64_t line_bytes);

/// "one set", "bits 7-8", "bits 9-11, 7^13, 8^14", "(address / 32 B) mod 1792", "unresolved".
std::string describe(const IndexFunction& function);

}  // namespace sonde
