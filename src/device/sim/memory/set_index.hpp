// Index functions made fast: an address in, a set (or slice) out, without a loop over masks.
#pragma once

#include "device/sim/model/model.hpp"

#include <array>
#include <memory>
#include <optional>
#include <vector>

namespace sonde::sim {

struct SlicedSets;

/// A DeclaredIndex ready to be evaluated on every access. Copies share its tables.
class SetIndex {
 public:
  /// @param set_count divisor of the kinds that have one
  /// @param slices for functions of kind slices
  SetIndex(const DeclaredIndex& function, std::uint32_t set_count, const Slices* slices = nullptr);
  explicit SetIndex(const Geometry& geometry, const Slices* slices = nullptr)
      : SetIndex(geometry.index, static_cast<std::uint32_t>(geometry.ways_per_set.size()), slices) {
  }

  std::uint32_t operator()(std::uint64_t address) const {
    using Kind = DeclaredIndex::Kind;
    if (kind_ == Kind::xor_masks) return fold(address);
    if (kind_ == Kind::xor_modulo) return static_cast<std::uint32_t>(fold(address) % divisor_);
    if (kind_ == Kind::bit_field)
      return static_cast<std::uint32_t>(address >> low_bit_) & bit_mask_;
    if (kind_ == Kind::slices) return in_slice(address);
    const std::uint64_t place = divide(address) % divisor_;
    return kind_ == Kind::table ? table_[place] : static_cast<std::uint32_t>(place);
  }

 private:
  /// What a byte of the address adds to the set, by its value.
  using Share = std::array<std::uint32_t, 256>;

  std::uint32_t in_slice(std::uint64_t address) const;
  void make_shares(const std::vector<std::uint64_t>& masks);

  /// Parities under all masks at once: XOR is linear, so each byte from low_bit on has its share.
  std::uint32_t fold(std::uint64_t address) const {
    std::uint64_t bits = address >> low_bit_;
    std::uint32_t set = 0;
    for (const Share* share = first_share_; share != last_share_; share += 2, bits >>= 16) {
      set ^= share[0][bits & 0xff] ^ share[1][bits >> 8 & 0xff];
    }
    return set;
  }

  /// By the granularity; most are powers of two, and a shift takes less time.
  std::uint64_t divide(std::uint64_t address) const {
    return granularity_bytes_ == 0 ? address >> low_bit_ : address / granularity_bytes_;
  }

  DeclaredIndex::Kind kind_;
  int low_bit_ = 0;
  std::uint32_t bit_mask_ = 0;
  std::uint64_t divisor_ = 1;
  std::uint64_t granularity_bytes_ = 0;  // 0: 2^low_bit_
  std::vector<std::uint32_t> table_;
  std::shared_ptr<const std::vector<Share>> shares_;  // for all bytes that count, by pairs
  const Share* first_share_ = nullptr;
  const Share* last_share_ = nullptr;
  std::shared_ptr<const SlicedSets> sliced_;
};

/// Which slice of its partition of the L2 a line lies in.
class SliceIndex {
 public:
  explicit SliceIndex(const Slices& slices)
      : slice_of_(slices.index, static_cast<std::uint32_t>(slices.count)),
        order_mask_(slices.second_order.mask),
        second_order_(slices.second_order.slices) {}

  std::uint32_t operator()(std::uint64_t physical) const {
    const std::uint32_t slice = slice_of_(physical);
    return __builtin_parityll(physical & order_mask_) != 0 ? second_order_[slice] : slice;
  }

 private:
  SetIndex slice_of_;
  std::uint64_t order_mask_;
  std::vector<std::uint32_t> second_order_;
};

}  // namespace sonde::sim
