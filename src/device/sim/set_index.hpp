// Index functions made fast: an address in, a set (or slice) out, without a loop over masks.
#pragma once

#include "device/sim/model.hpp"

#include <array>
#include <memory>
#include <vector>

namespace sonde::sim {

/// An IndexFunction ready to be evaluated on every access.
class SetIndex {
 public:
  /// @param set_count divisor of the modulo kind
  SetIndex(const IndexFunction& function, std::uint32_t set_count);

  std::uint32_t operator()(std::uint64_t address) const {
    switch (kind_) {
      case IndexFunction::Kind::bit_field:
        return static_cast<std::uint32_t>(address >> low_bit_) & bit_mask_;
      case IndexFunction::Kind::xor_masks: return fold(address);
      case IndexFunction::Kind::modulo:
        return static_cast<std::uint32_t>(divide(address) % divisor_);
      case IndexFunction::Kind::table: return table_[divide(address) % divisor_];
    }
    return 0;
  }

 private:
  /// What a byte of the address adds to the set, by its value.
  using Share = std::array<std::uint32_t, 256>;
  using Shares = std::array<Share, 6>;  // 48 address bits

  void make_shares(const std::vector<std::uint64_t>& masks);

  /// Parities under all masks at once: XOR is linear, so each byte from low_bit on has its share.
  std::uint32_t fold(std::uint64_t address) const {
    const std::uint64_t bits = address >> low_bit_;
    const Shares& shares = *shares_;
    return shares[0][bits & 0xff] ^ shares[1][bits >> 8 & 0xff] ^ shares[2][bits >> 16 & 0xff] ^
           shares[3][bits >> 24 & 0xff] ^ shares[4][bits >> 32 & 0xff] ^
           shares[5][bits >> 40 & 0xff];
  }

  /// By the granularity; most are powers of two, and a shift takes less time.
  std::uint64_t divide(std::uint64_t address) const {
    return granularity_bytes_ == 0 ? address >> low_bit_ : address / granularity_bytes_;
  }

  IndexFunction::Kind kind_;
  int low_bit_ = 0;
  std::uint32_t bit_mask_ = 0;
  std::uint64_t divisor_ = 1;
  std::uint64_t granularity_bytes_ = 0;  // 0: 2^low_bit_
  std::vector<std::uint32_t> table_;
  std::shared_ptr<const Shares> shares_;
};

}  // namespace sonde::sim
