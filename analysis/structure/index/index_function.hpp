// The function of the address that chooses the set, as the search finds it from labelled lines and
// as layouts and reports use it.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace sonde {

/// Label of a line that is in none of the labelled sets.
inline constexpr std::uint32_t other_set = ~0U;

/// One line and the label of the set it was seen in.
struct PlacedLine {
  std::uint64_t offset_bytes = 0;
  std::uint32_t set = 0;
};

enum class IndexKind { one_set, bit_field, xor_masks, modulo, unresolved };

struct IndexFunction {
  IndexKind kind = IndexKind::unresolved;
  /// Bit i of the set number is the parity of the address under masks[i]. Reduced row echelon form
  /// with the lowest bits as pivots: of all bases that give the same sets the one with most single
  /// bits. A bit field has one bit in each mask.
  std::vector<std::uint64_t> masks;
  std::uint64_t buffer_address = 0;     // of offset 0
  std::uint64_t granularity_bytes = 0;  // modulo: set = (address / granularity_bytes) mod sets
  std::uint32_t sets = 0;
  double agreement = 0;          // share of lines that follow the function
  std::uint64_t known_bits = 0;  // address bits that varied, and not only along with lower ones;
                                 // nothing is known of the others
  std::string reason;            // unresolved: why
};

/// Whether the function tells the set of every line, and sets are few enough to be listed.
bool can_number_sets(const IndexFunction& index);

/// Number of the set of a line. @pre can_number_sets
std::uint64_t set_of(const IndexFunction& index, std::uint64_t offset_bytes);

/// "one set", "bits 7-8", "bits 9-11, 7^13, 8^14", "(address / 32 B) mod 1792", "unresolved".
std::string describe(const IndexFunction& function);

}  // namespace sonde
