// Where a line sits in a wide set.
#include "device/sim/line_map.hpp"

#include <algorithm>
#include <bit>

namespace sonde::sim {

// Half of the places stay free, so hardly any bucket runs over.
LineMap::LineMap(std::size_t slots)
    : mask_(std::bit_ceil(slots / 4 + 1) - 1), buckets_(mask_ + 1) {}

void LineMap::insert(std::uint64_t line, std::uint32_t slot) {
  for (std::size_t at = home(line);; at = (at + 1) & mask_) {
    Bucket& bucket = buckets_[at];
    if (const std::uint64_t free = marks::find(&bucket.marks, 8, 0); free != 0) {
      const std::uint32_t place = marks::next_way(free);
      marks::set(&bucket.marks, place, marks::mark_of(line));
      bucket.slots[place] = slot;
      return;
    }
    ++bucket.passed;
  }
}

void LineMap::erase(std::uint64_t line, std::uint32_t slot) {
  const std::uint64_t mark = marks::mark_of(line);
  for (std::size_t at = home(line);; at = (at + 1) & mask_) {
    Bucket& bucket = buckets_[at];
    for (std::uint64_t found = marks::find(&bucket.marks, 8, mark); found != 0;
         found &= found - 1) {
      const std::uint32_t place = marks::next_way(found);
      if (bucket.slots[place] != slot) continue;
      marks::set(&bucket.marks, place, 0);
      return;
    }
    --bucket.passed;
  }
}

void LineMap::clear() { std::fill(buckets_.begin(), buckets_.end(), Bucket{}); }

}  // namespace sonde::sim
