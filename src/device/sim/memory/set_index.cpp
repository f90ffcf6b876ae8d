// Builds the tables of an index function when its array is opened; every access reads them.
#include "device/sim/memory/set_index.hpp"

#include <algorithm>
#include <bit>

namespace sonde::sim {

/// The sets of slice 0 come first, then those of slice 1.
struct SlicedSets {
  SliceIndex slice_of;
  SetIndex within;
  std::uint32_t sets_of_slice;
};

SetIndex::SetIndex(const DeclaredIndex& function, std::uint32_t set_count, const Slices* slices)
    : kind_(function.kind),
      low_bit_(function.low_bit),
      bit_mask_((1u << function.bits) - 1),
      granularity_bytes_(function.granularity_bytes),
      divisor_(function.table.empty() ? set_count : function.table.size()),
      table_(function.table) {
  if (kind_ == DeclaredIndex::Kind::slices) {
    const std::uint32_t sets = set_count / static_cast<std::uint32_t>(slices->count);
    sliced_ = std::make_shared<SlicedSets>(
        SlicedSets{SliceIndex(*slices), SetIndex(function.within.front(), sets), sets});
  }
  if (function.masks.empty()) return;
  const auto used_bits = std::bit_width(std::ranges::max(function.masks));
  auto shares = std::make_shared<Shares>((static_cast<std::size_t>(used_bits) + 7) / 8);
  for (std::size_t byte = 0; byte < shares->size(); ++byte) {
    for (std::uint64_t value = 0; value < 256; ++value) {
      for (std::size_t i = 0; i < function.masks.size(); ++i) {
        const int parity = std::popcount(value << (8 * byte) & function.masks[i]) & 1;
        (*shares)[byte][value] |= static_cast<std::uint32_t>(parity) << i;
      }
    }
  }
  shares_ = std::move(shares);
}

std::uint32_t SetIndex::in_slice(std::uint64_t address) const {
  return sliced_->slice_of(address) * sliced_->sets_of_slice + sliced_->within(address);
}

}  // namespace sonde::sim
