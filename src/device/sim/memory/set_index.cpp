// Tables for the index function of one array, made when it is opened and read on every access.
#include "device/sim/memory/set_index.hpp"

#include <bit>

namespace sonde::sim {

SetIndex::SetIndex(const DeclaredIndex& function, std::uint32_t set_count)
    : kind_(function.kind), low_bit_(function.low_bit), divisor_(set_count) {
  using Kind = DeclaredIndex::Kind;
  if (kind_ == Kind::sliced) {
    sets_of_slice_ = set_count / function.slices;
    parts_.emplace_back(function.parts[0], function.slices);
    parts_.emplace_back(function.parts[1], sets_of_slice_);
  } else if (kind_ == Kind::bit_field) {
    bit_mask_ = function.bits >= 32 ? ~0u : (1u << function.bits) - 1;
  } else if (kind_ == Kind::xor_masks || kind_ == Kind::xor_modulo) {
    make_shares(function.masks);
  } else {
    if (std::has_single_bit(function.granularity_bytes)) {
      low_bit_ = std::countr_zero(function.granularity_bytes);
    } else {
      granularity_bytes_ = function.granularity_bytes;
    }
    table_ = function.table;
    if (kind_ == Kind::table) divisor_ = table_.size();
  }
}

void SetIndex::make_shares(const std::vector<std::uint64_t>& masks) {
  std::uint64_t used_bits = 0;
  for (std::uint64_t mask : masks) used_bits |= mask;
  low_bit_ = used_bits == 0 ? 0 : std::countr_zero(used_bits);
  const auto pairs = static_cast<std::size_t>(std::bit_width(used_bits >> low_bit_) + 15) / 16;
  auto shares = std::make_shared<std::vector<Share>>(2 * pairs);
  for (std::size_t byte = 0; byte < shares->size(); ++byte) {
    for (std::uint64_t value = 0; value < 256; ++value) {
      for (std::size_t i = 0; i < masks.size(); ++i) {
        const int parity = std::popcount(value << (8 * byte) & masks[i] >> low_bit_) & 1;
        (*shares)[byte][value] |= static_cast<std::uint32_t>(parity) << i;
      }
    }
  }
  first_share_ = shares->data();
  last_share_ = first_share_ + shares->size();
  shares_ = std::move(shares);
}

}  // namespace sonde::sim
