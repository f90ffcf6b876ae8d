// Index functions made fast: an address in, a set (or slice) out, without a loop over masks.
#pragma once

#include "device/sim/model.hpp"

#include <array>
#include <memory>

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
        return static_cast<std::uint32_t>((address / granularity_bytes_) % set_count_);
      case IndexFunction::Kind::table:
        return table_[(address / granularity_bytes_) % table_.size()];
    }
    return 0;
  }

 private:
  /// Parities under all masks at once: XOR is linear, so each address byte has its own share.
  std::uint32_t fold(std::uint64_t address) const {
    std::uint32_t index = 0;
    for (std::size_t byte = 0; byte < fold_bytes; ++byte) {
      index ^= (*shares_)[byte][(address >> (8 * byte)) & 0xff];
    }
    return index;
  }

  static constexpr std::size_t fold_bytes = 6;  // 48 address bits
  using Shares = std::array<std::array<std::uint32_t, 256>, fold_bytes>;

  IndexFunction::Kind kind_;
  int low_bit_ = 0;
  std::uint32_t bit_mask_ = 0;
  std::uint32_t set_count_ = 1;
  std::uint64_t granularity_bytes_ = 1;
  std::vector<std::uint32_t> table_;
  std::shared_ptr<const Shares> shares_;
};

}  // namespace sonde::sim
