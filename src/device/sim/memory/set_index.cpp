// Tables for the index function of one array, made when it is opened and read on every access.
#include "device/sim/memory/set_index.hpp"

#include <bit>

namespace sonde::sim {

/// The sets of slice 0 come first, then those of slice 1.
struct SlicedSets {
  SliceIndex slice_of;
  SetIndex within;
  std::uint32_t sets_of_slice;
};

SetIndex::SetIndex(const DeclaredIndex& function, std::uint32_t set_count, const Slices* slices)
    : kind_(function.kind), low_bit_(function.low_bit), divisor_(set_count) {
  using Kind = DeclaredIndex::Kind;
  if (kind_ == Kind::bit_field) {
    bit_mask_ = function.bits >= 32 ? ~0u : (1u << function.bits) - 1;
  } else if (kind_ == Kind::xor_masks || kind_ == Kind::xor_modulo) {
    make_shares(function.masks);
  } else if (kind_ == Kind::slices) {
    const std::uint32_t sets = set_count / static_cast<std::uint32_t>(slices->count);
    sliced_ = std::make_shared<SlicedSets>(
        SlicedSets{SliceIndex(*slices), SetIndex(function.within.front(), sets), sets});
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

std::uint32_t SetIndex::in_slice(std::uint64_t address) const {
  return sliced_->slice_of(address) * sliced_->sets_of_slice + sliced_->within(address);
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
