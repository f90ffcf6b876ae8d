// Where a line sits in a cache whose sets are too wide to be searched way by way. Used by
// cache_array.cpp.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace sonde::sim {

/// From line to slot, by open addressing. Lines lie below 2^43 and slots below 2^20, so that one
/// word holds both.
class LineMap {
 public:
  static constexpr std::uint32_t absent = ~0u;
  static constexpr std::size_t most_slots = std::size_t{1} << 20;

  explicit LineMap(std::size_t slots);
  std::uint32_t find(std::uint64_t line) const {
    for (std::size_t at = home(line + 1); cells_[at] != 0; at = (at + 1) & mask_) {
      if (cells_[at] >> slot_bits == line + 1) {
        return static_cast<std::uint32_t>(cells_[at] & (most_slots - 1));
      }
    }
    return absent;
  }
  void insert(std::uint64_t line, std::uint32_t slot);
  /// @pre the line is there
  void erase(std::uint64_t line);
  void clear();

 private:
  static constexpr int slot_bits = 20;
  /// Multiplicative hashing (Knuth): the upper bits of a product with 2^64 / golden ratio.
  std::size_t home(std::uint64_t key) const { return key * 0x9e3779b97f4a7c15ULL >> shift_; }

  std::size_t mask_;
  int shift_;
  std::vector<std::uint64_t> cells_;  // (line + 1) << slot_bits | slot; 0: free
};

}  // namespace sonde::sim
