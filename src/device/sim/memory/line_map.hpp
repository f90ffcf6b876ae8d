// Where a line is in a cache with sets of too many ways to be searched one by one. Used by
// CacheArray.
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace sonde::sim {

/// From a line to the place of its tag: a hash table with linear probing, at least half of it free.
class LineMap {
 public:
  static constexpr std::uint32_t absent = ~0u;

  /// @param lines the most that will be there at a time
  explicit LineMap(std::size_t lines)
      : mask_(std::bit_ceil(2 * lines + 1) - 1), places_(mask_ + 1, absent) {}

  /// @param line_at says which line the tag at a place is of
  template <class LineAt>
  std::uint32_t find(std::uint64_t line, LineAt line_at) const {
    std::size_t at = home(line);
    while (places_[at] != absent && line_at(places_[at]) != line) at = (at + 1) & mask_;
    return places_[at];
  }

  /// @pre the line is not there
  void insert(std::uint64_t line, std::uint32_t place) {
    std::size_t at = home(line);
    while (places_[at] != absent) at = (at + 1) & mask_;
    places_[at] = place;
  }

  /// @pre the line is there, at this place
  template <class LineAt>
  void erase(std::uint64_t line, std::uint32_t place, LineAt line_at) {
    std::size_t hole = home(line);
    while (places_[hole] != place) hole = (hole + 1) & mask_;
    // Those behind the hole move up, unless they would come before their home.
    for (std::size_t at = (hole + 1) & mask_; places_[at] != absent; at = (at + 1) & mask_) {
      const std::size_t from_home = (at - home(line_at(places_[at]))) & mask_;
      if (from_home < ((at - hole) & mask_)) continue;
      places_[hole] = places_[at];
      hole = at;
    }
    places_[hole] = absent;
  }

  void clear() { places_.assign(places_.size(), absent); }

 private:
  std::size_t home(std::uint64_t line) const { return line * 0x9e3779b97f4a7c15ULL >> 32 & mask_; }

  std::size_t mask_;
  std::vector<std::uint32_t> places_;
};

}  // namespace sonde::sim
