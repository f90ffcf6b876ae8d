// Where a line sits in a cache whose sets are too wide to be searched way by way. Used by
// cache_array.hpp.
#pragma once

#include "device/sim/set_record.hpp"

#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace sonde::sim {

/// From line to slot: a hash table of buckets of eight, whose marks are compared all at once. What
/// does not fit into its own bucket goes into the next that has room.
class LineMap {
 public:
  static constexpr std::uint32_t absent = ~0u;

  /// @param slots the most lines that will be there at a time
  explicit LineMap(std::size_t slots);

  /// @param holds says of a slot whether it holds the line
  template <class Holds>
  std::uint32_t find(std::uint64_t line, Holds holds) const {
    const std::uint64_t mark = marks::mark_of(line);
    for (std::size_t at = home(line);; at = (at + 1) & mask_) {
      const Bucket& bucket = buckets_[at];
      for (std::uint64_t found = marks::find(&bucket.marks, 8, mark); found != 0;
           found &= found - 1) {
        const std::uint32_t slot = bucket.slots[marks::next_way(found)];
        if (holds(slot)) return slot;
      }
      if (bucket.passed == 0) return absent;
    }
  }

  /// @pre the line is not there
  void insert(std::uint64_t line, std::uint32_t slot);
  /// @pre the line is there, in this slot
  void erase(std::uint64_t line, std::uint32_t slot);
  void clear();

 private:
  struct alignas(64) Bucket {
    std::uint64_t marks = 0;
    std::array<std::uint32_t, 8> slots{};
    std::uint32_t passed = 0;  // lines that found it full and went on
  };

  /// The marks are the upper bits of the same product.
  std::size_t home(std::uint64_t line) const {
    return (line * 0x9e3779b97f4a7c15ULL >> 24) & mask_;
  }

  std::size_t mask_;
  std::vector<Bucket> buckets_;
};

}  // namespace sonde::sim
