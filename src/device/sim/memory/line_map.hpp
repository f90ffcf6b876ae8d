// Where a line is in a cache with sets of too many ways to be searched one by one. Used by
// CacheArray.
#pragma once

#include "device/sim/memory/host.hpp"
#include "device/sim/memory/set_state.hpp"

#include <vector>

namespace sonde::sim {

/// From a line to the place of its tag: a hash table of buckets of eight, whose marks are compared
/// all at once. What does not fit into its own bucket goes into the next one with a free place.
/// Linear probing, which reads the tag of every line on its way, would take half as long again for
/// each miss of the GTX 980's L1. Nothing is inlined: CacheArray::access would take 3 % more
/// instructions where sets need no map.
class LineMap {
 public:
  static constexpr std::uint32_t absent = ~0u;

  /// @param lines the most that will be there at a time; as many places stay free, so hardly any
  /// bucket runs over
  explicit LineMap(std::size_t lines)
      : mask_(std::bit_ceil(lines / (bucket_places / 2) + 1) - 1), buckets_(mask_ + 1) {}

  /// @param line_at says which line the tag at a place is of
  template <class LineAt>
  [[gnu::noinline]] std::uint32_t find(std::uint64_t line, LineAt line_at) const {
    const std::uint64_t mark = marks::mark_of(line);
    for (std::size_t at = home(line);; at = (at + 1) & mask_) {
      const Bucket& bucket = buckets_[at];
      for (std::uint64_t found = bucket.with(mark); found != 0; found &= found - 1) {
        const std::uint32_t place = bucket.places[marks::next_way(found)];
        if (line_at(place) == line) return place;
      }
      if (bucket.passed == 0) return absent;
    }
  }

  /// @pre the line is not there
  [[gnu::noinline]] void insert(std::uint64_t line, std::uint32_t place) {
    std::size_t at = home(line);
    std::uint64_t free = 0;
    for (; (free = buckets_[at].with(0)) == 0; at = (at + 1) & mask_) ++buckets_[at].passed;
    buckets_[at].places[marks::next_way(free)] = place;
    marks::set(&buckets_[at].marks, marks::next_way(free), marks::mark_of(line));
  }

  /// @pre the line is there, at this place
  [[gnu::noinline]] void erase(std::uint64_t line, std::uint32_t place) {
    for (std::size_t at = home(line);; at = (at + 1) & mask_) {
      Bucket& bucket = buckets_[at];
      for (std::uint64_t found = bucket.with(marks::mark_of(line)); found != 0;
           found &= found - 1) {
        if (bucket.places[marks::next_way(found)] != place) continue;
        return marks::set(&bucket.marks, marks::next_way(found), 0);
      }
      --bucket.passed;
    }
  }

  void clear() { buckets_.assign(buckets_.size(), {}); }

 private:
  static constexpr std::uint32_t bucket_places = 8;
  struct alignas(host_line_bytes) Bucket {
    std::uint64_t marks = 0;
    std::array<std::uint32_t, bucket_places> places{};
    std::uint32_t passed = 0;  // lines that found it full and went on

    std::uint64_t with(std::uint64_t mark) const {
      return marks::find(&marks, bucket_places, mark);
    }
  };

  /// By other bits of the product than the mark.
  std::size_t home(std::uint64_t line) const { return line * 0x9e3779b97f4a7c15ULL >> 24 & mask_; }

  std::size_t mask_;
  std::vector<Bucket> buckets_;
};

}  // namespace sonde::sim
