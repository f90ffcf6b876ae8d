// The function of the address that chooses the set, found from labelled lines.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace sonde {

/// Label of a line that lies in none of the labelled sets.
inline constexpr std::uint32_t other_set = ~0U;

struct PlacedLine {
  std::uint64_t offset_bytes = 0;
  std::uint32_t set = 0;
};

enum class IndexKind { one_set, bit_field, xor_fold, xor_masks, modulo, unresolved };

struct IndexFunction {
  IndexKind kind = IndexKind::unresolved;
  /// Bit i of the set number is the parity of the address under masks[i]. Reduced row echelon form
  /// with the lowest bits as pivots: no other basis for the same sets has more single bits. A bit
  /// field has one bit in each mask; a fold has every n-th bit from its lowest bit on.
  std::vector<std::uint64_t> masks = {};
  std::uint64_t buffer_address = 0;     // address of offset 0
  std::uint64_t granularity_bytes = 0;  // modulo: set = (address / granularity_bytes) mod sets;
                                        // fold: its lowest bit, as a power of two
  std::uint32_t sets = 0;
  double agreement = 0;          // fraction of the lines that follow the function
  std::uint64_t known_bits = 0;  // address bits that varied independently of lower bits; the effect
                                 // of the other bits is unknown
  std::string reason = {};       // why it is unresolved
};

/// True if the function gives the set of every line, and the sets are few enough to be listed.
bool can_number_sets(const IndexFunction& index);

/// @pre can_number_sets
std::uint64_t set_of(const IndexFunction& index, std::uint64_t offset_bytes);

/// "one set", "bits 7-8", "bits 9-11, 7^13, 8^14", "(address / 32 B) mod 1792",
/// "(address / 32 MiB) folded by XOR to 8 bits", "unresolved".
std::string describe(const IndexFunction& function);

/// "8^11^14": the numbers of the bits of a mask.
std::string describe_mask(std::uint64_t mask);

/// Reads a text of `describe`; unresolved if it cannot.
IndexFunction parse_index_function(const std::string& text);

/// Cuts the address from `low_bit` on into groups of `bits` bits; their XOR is the set.
IndexFunction make_fold(int low_bit, int bits);

/// Independent vectors. The pivot of each is its lowest bit, which no other vector has.
class Gf2Basis {
 public:
  /// Cancels every pivot in `vector`; the result is 0 if the vector lies in the span.
  std::uint64_t reduce(std::uint64_t vector) const;

  /// @return whether the vector was independent of those before
  bool insert(std::uint64_t vector);

  std::size_t rank() const { return rows_.size(); }

  /// Reduced row echelon form, ascending by lowest bit: the same for every basis of the span. Each
  /// single bit in the span is a row of its own.
  const std::vector<std::uint64_t>& rows() const { return rows_; }

 private:
  std::vector<std::uint64_t> rows_;
};

/// All masks within `bits` that have even parity on every vector of `span`.
Gf2Basis orthogonal_complement(const Gf2Basis& span, std::uint64_t bits);

/// Bit i is the parity of `value` under masks[i]. @pre at most 64 masks
std::uint64_t fold_bits(std::uint64_t value, const std::vector<std::uint64_t>& masks);

}  // namespace sonde
