// Fast index functions: from an address to its set or slice, without a loop over masks.
#pragma once

#include "device/sim/model/model.hpp"

#include <array>
#include <memory>
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
    const std::uint64_t place = address / granularity_bytes_ % divisor_;
    return kind_ == Kind::table ? table_[place] : static_cast<std::uint32_t>(place);
  }

 private:
  /// XOR is linear: the set of an address is the XOR of one table entry for each of its bytes.
  using Shares = std::vector<std::array<std::uint32_t, 256>>;

  std::uint32_t in_slice(std::uint64_t address) const;

  /// Parities under all masks at once.
  std::uint32_t fold(std::uint64_t address) const {
    std::uint32_t set = 0;
    for (const auto& share : *shares_) {
      set ^= share[address & 0xff];
      address >>= 8;
    }
    return set;
  }

  DeclaredIndex::Kind kind_;
  int low_bit_ = 0;
  std::uint32_t bit_mask_ = 0;
  std::uint64_t granularity_bytes_ = 1;
  std::uint64_t divisor_ = 1;
  std::vector<std::uint32_t> table_;
  std::shared_ptr<const Shares> shares_;
  std::shared_ptr<const SlicedSets> sliced_;
};

/// From the physical address of a line to its slice within an L2 partition.
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
