// Which slice of its partition of the L2 a line lies in.
#pragma once

#include "device/sim/memory/set_index.hpp"

namespace sonde::sim {

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
