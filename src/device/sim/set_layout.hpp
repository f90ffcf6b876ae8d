// Where the sets of a cache lie in the host's memory. Used by cache_array.hpp.
#pragma once

#include "device/sim/model.hpp"

#include <vector>

namespace sonde::sim {

/// The slots of one set: one for each way.
struct SetShape {
  std::uint32_t first_slot = 0;
  std::uint32_t ways = 0;
};

/// The slots of all sets, one after the other.
class SetLayout {
 public:
  explicit SetLayout(const Geometry& geometry);

  SetShape operator[](std::uint32_t set) const {
    return ways_ != 0 ? SetShape{set * ways_, ways_} : shapes_[set];
  }
  std::uint32_t slots() const { return slots_; }

 private:
  std::uint32_t ways_ = 0;  // of each set, if they are equal; else 0
  std::uint32_t slots_ = 0;
  std::vector<SetShape> shapes_;  // if they are not
};

}  // namespace sonde::sim
