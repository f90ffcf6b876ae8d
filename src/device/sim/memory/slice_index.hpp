// Which slice of the L2 a line lies in, which queue it waits in there, and whose home that is.
#pragma once

#include "device/sim/memory/set_index.hpp"

namespace sonde::sim {

struct SlicePlace {
  std::uint32_t queue = 0;
  std::uint32_t slice = 0;  // in its partition
};

class SliceIndex {
 public:
  explicit SliceIndex(const Slices& slices)
      : queue_of_(slices.index, static_cast<std::uint32_t>(slices.queues)),
        order_mask_(slices.second_order.mask),
        second_order_(slices.second_order.queues),
        halves_mask_(slices.halves_mask) {}

  SlicePlace operator()(std::uint64_t physical) const {
    std::uint32_t queue = queue_of_(physical);
    if (__builtin_parityll(physical & order_mask_) != 0) queue = second_order_[queue];
    if (halves_mask_ == 0) return {.queue = queue, .slice = queue};
    const auto half = static_cast<std::uint32_t>(__builtin_parityll(physical & halves_mask_));
    return {.queue = queue, .slice = 2 * queue + half};
  }

 private:
  SetIndex queue_of_;
  std::uint64_t order_mask_;
  std::vector<std::uint32_t> second_order_;
  std::uint64_t halves_mask_;
};

}  // namespace sonde::sim
