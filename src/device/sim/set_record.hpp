// What a cache keeps of a set beside its tags, in so few words that looking for a line reads one
// line of the host's memory and one tag. Used by cache_array.cpp and replacement.cpp.
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>

namespace sonde::sim {

/// The ways of a set of at most 16 by their last use, newest first, four bits each.
namespace packed_order {

inline constexpr std::uint32_t most_ways = 16;
inline constexpr std::uint64_t first = 0xfedcba9876543210ULL;  // way 0 is the newest

inline void move_to_front(std::uint64_t& order, std::uint32_t way) {
  if ((order & 0xf) == way) return;
  constexpr std::uint64_t ones = 0x1111111111111111ULL;
  const std::uint64_t differences = order ^ way * ones;
  const std::uint64_t zeros = (differences - ones) & ~differences & ones << 3;
  const std::uint64_t newer = (zeros & -zeros) / 8 - 1;  // the places before the way's own
  order = (order & ~(newer << 4 | 0xf)) | (order & newer) << 4 | way;
}

inline std::uint32_t oldest(std::uint64_t order, std::uint32_t ways) {
  return order >> (4 * (ways - 1)) & 0xf;
}

}  // namespace packed_order

/// A byte of each line's hash, eight to a word, as in the "Swiss tables" of Abseil: of all ways
/// only those whose mark is the line's own can hold it. 0 marks a way without a line.
namespace marks {

inline constexpr std::uint32_t most_ways = 64;

inline std::uint32_t words_for(std::uint32_t ways) { return (ways + 7) / 8; }

inline std::uint64_t mark_of(std::uint64_t line) {
  const std::uint64_t byte = line * 0x9e3779b97f4a7c15ULL >> 56;
  return byte + (byte == 0 ? 1 : 0);
}

/// The upper bit of each byte that is equal in both.
inline std::uint64_t equal_bytes(std::uint64_t a, std::uint64_t b) {
  constexpr std::uint64_t low_bits = 0x7f7f7f7f7f7f7f7fULL;
  const std::uint64_t differences = a ^ b;
  return ~(((differences & low_bits) + low_bits) | differences | low_bits);
}

/// Ways with this mark; to be taken one by one with `next_way`.
inline std::uint64_t find(const std::uint64_t* words, std::uint32_t ways, std::uint64_t mark) {
  const std::uint64_t pattern = mark * 0x0101010101010101ULL;
  std::uint64_t found = equal_bytes(words[0], pattern) >> 7;
  if (ways <= 8) return found;
  found |= equal_bytes(words[1], pattern) >> 6;
  for (std::uint32_t i = 2; 8 * i < ways; ++i) found |= equal_bytes(words[i], pattern) >> (7 - i);
  return found;
}

/// Bit 8 b + w of what `find` gives is byte b of word w.
inline std::uint32_t next_way(std::uint64_t found) {
  const auto bit = static_cast<std::uint32_t>(std::countr_zero(found));
  return bit / 8 + 8 * (bit % 8);
}

inline void set(std::uint64_t* words, std::uint32_t way, std::uint64_t mark) {
  const std::uint32_t shift = 8 * (way % 8);
  words[way / 8] = (words[way / 8] & ~(std::uint64_t{0xff} << shift)) | mark << shift;
}

}  // namespace marks

/// The words of one set: what was filled when, the order of use, and marks.
class SetRecord {
 public:
  static constexpr std::uint32_t marks_word = 2;

  explicit SetRecord(std::uint64_t* words) : words_(words) {}

  std::uint32_t used() const { return static_cast<std::uint32_t>(words_[0]); }
  /// One more way is in use; gives its number.
  std::uint32_t use_next() const { return static_cast<std::uint32_t>(words_[0]++); }
  /// Of the contents of the cache when the set was emptied.
  std::uint32_t generation() const { return static_cast<std::uint32_t>(words_[0] >> 32); }
  std::uint64_t& order() const { return words_[1]; }
  const std::uint64_t* marks() const { return words_ + marks_word; }
  void set_mark(std::uint32_t way, std::uint64_t mark) const {
    marks::set(words_ + marks_word, way, mark);
  }
  void clear(std::uint32_t generation, std::size_t word_count) const {
    words_[0] = std::uint64_t{generation} << 32;
    words_[1] = packed_order::first;
    for (std::size_t i = marks_word; i < word_count; ++i) words_[i] = 0;
  }

 private:
  std::uint64_t* words_;
};

}  // namespace sonde::sim
