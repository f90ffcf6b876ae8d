// Index functions made fast.
#include "device/sim/set_index.hpp"

#include <bit>

namespace sonde::sim {

SetIndex::SetIndex(const IndexFunction& function, std::uint32_t set_count)
    : kind_(function.kind),
      low_bit_(function.low_bit),
      bit_mask_(function.bits >= 32 ? ~0u : (1u << function.bits) - 1),
      set_count_(set_count),
      granularity_bytes_(function.granularity_bytes),
      table_(function.table) {
  if (kind_ != IndexFunction::Kind::xor_masks) return;
  auto shares = std::make_shared<Shares>();
  for (std::size_t byte = 0; byte < fold_bytes; ++byte) {
    for (std::uint64_t value = 0; value < 256; ++value) {
      std::uint32_t index = 0;
      for (std::size_t i = 0; i < function.masks.size(); ++i) {
        const auto parity = std::popcount((value << (8 * byte)) & function.masks[i]) & 1;
        index |= static_cast<std::uint32_t>(parity) << i;
      }
      (*shares)[byte][value] = index;
    }
  }
  shares_ = std::move(shares);
}

}  // namespace sonde::sim
