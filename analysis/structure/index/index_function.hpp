// The function of the address that chooses the set, as the search finds it from labelled lines and
// as layouts and reports use it.
#pragma once

#include <cstddef>
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

enum class IndexKind { one_set, bit_field, xor_fold, xor_masks, modulo, unresolved };

struct IndexFunction {
  IndexKind kind = IndexKind::unresolved;
  /// Bit i of the set number is the parity of the address under masks[i]. Reduced row echelon form
  /// with the lowest bits as pivots: of all bases that give the same sets the one with most single
  /// bits. A bit field has one bit in each mask. Of a fold, every n-th bit from one on.
  std::vector<std::uint64_t> masks = {};
  std::uint64_t buffer_address = 0;     // of offset 0
  std::uint64_t granularity_bytes = 0;  // modulo: set = (address / granularity_bytes) mod sets;
                                        // fold: what is folded begins with this bit
  std::uint32_t sets = 0;
  double agreement = 0;          // share of lines that follow the function
  std::uint64_t known_bits = 0;  // address bits that varied, and not only along with lower ones;
                                 // nothing is known of the others
  std::string reason = {};       // unresolved: why
};

/// Whether the function tells the set of every line, and sets are few enough to be listed.
bool can_number_sets(const IndexFunction& index);

/// Number of the set of a line. @pre can_number_sets
std::uint64_t set_of(const IndexFunction& index, std::uint64_t offset_bytes);

/// "one set", "bits 7-8", "bits 9-11, 7^13, 8^14", "(address / 32 B) mod 1792",
/// "(address / 32 MiB) folded by XOR to 8 bits", "unresolved".
std::string describe(const IndexFunction& function);

/// Reads what `describe` wrote; unresolved where it cannot. Bits are all that it knows.
IndexFunction parse_index_function(const std::string& text);

/// The address from bit `low_bit` on, cut into groups of `bits` bits that are XORed with each
/// other.
IndexFunction make_fold(int low_bit, int bits);

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
