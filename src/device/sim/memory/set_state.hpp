// What a cache keeps of a set, close together, so that an access reads few lines of the host's
// memory. CacheArray finds lines in it, ReplacementState their order.
#pragma once

#include "device/sim/model/limits.hpp"

#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>

/// For what every access passes through: GCC takes such functions for too long to be inlined, but
/// the calls would be a quarter of all instructions.
#define SONDE_HOT [[gnu::always_inline]] inline

namespace sonde::sim {

inline constexpr std::size_t host_line_bytes = 64;  // of every x86-64 and most ARM processors
inline constexpr std::uint32_t host_line_words = host_line_bytes / sizeof(std::uint64_t);

/// Memory in whole lines of the host, so that a set spans as few of them as it can.
struct alignas(host_line_bytes) HostLine {
  std::array<std::uint64_t, host_line_words> words{};
};

/// The host fetches this memory, to be read and written soon. The empty asm is an effect: without
/// one GCC 12 takes functions that only prefetch for pure ones and drops their calls.
inline void fetch_ahead(const void* memory) {
  __builtin_prefetch(memory, 1);
  asm volatile("");
}

/// The ways of a set of at most 16 by their last use, newest first, four bits each.
namespace packed_order {

inline constexpr std::uint32_t most_ways = 16;
inline constexpr std::uint64_t first = 0xfedcba9876543210ULL;  // way 0 is the newest

inline void move_to_front(std::uint64_t& order, std::uint32_t way) {
  constexpr std::uint64_t ones = 0x1111111111111111ULL;
  const std::uint64_t differences = order ^ way * ones;
  const std::uint64_t zeros = (differences - ones) & ~differences & ones << 3;
  const std::uint64_t place = zeros & -zeros;       // the upper bit of the way's own
  const std::uint64_t moved = place | (place - 1);  // its place and all newer ones
  order ^= (order ^ (order << 4 | way)) & moved;
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
  return line * 0x9e3779b97f4a7c15ULL >> 56 | 0x80;
}

/// The upper bit of each byte that is equal in both, and perhaps of one above an equal one.
inline std::uint64_t equal_bytes(std::uint64_t a, std::uint64_t b) {
  constexpr std::uint64_t ones = 0x0101010101010101ULL;
  const std::uint64_t differences = a ^ b;
  return (differences - ones) & ~differences & ones << 7;
}

/// Ways with this mark, and perhaps others; to be taken one by one with `next_way`.
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
  static_assert(std::endian::native == std::endian::little);  // byte w of the marks is way w
  reinterpret_cast<unsigned char*>(words)[way] = static_cast<unsigned char>(mark);
}

}  // namespace marks

/// A line and which of its sectors are there.
struct Tag {
  static constexpr int most_sectors = limits::line_sectors;  // a bit for each
  std::uint64_t word = ~std::uint64_t{0} << most_sectors;    // no line

  Tag() = default;
  explicit Tag(std::uint64_t stored) : word(stored) {}
  Tag(std::uint64_t line, std::uint64_t sectors) : word(line << most_sectors | sectors) {}
  std::uint64_t line() const { return word >> most_sectors; }
  bool is_empty() const { return word == Tag().word; }
  bool has_all(std::uint64_t sectors) const { return (~word & sectors) == 0; }
};

/// The words of one set: what was filled when, the order of use, marks and tags. Sets of more ways
/// than marks::most_ways have no marks.
class SetState {
 public:
  static constexpr std::uint32_t marks_word = 2;

  SetState(std::uint64_t* words, std::uint64_t* tags) : words_(words), tags_(tags) {}

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
  Tag tag(std::uint32_t way) const { return Tag(tags_[way]); }
  void set_tag(std::uint32_t way, Tag tag) const { tags_[way] = tag.word; }
  void add_sectors(std::uint32_t way, std::uint64_t sectors) const { tags_[way] |= sectors; }
  void clear(std::uint32_t generation, std::uint32_t mark_words) const {
    words_[0] = std::uint64_t{generation} << 32;
    words_[1] = packed_order::first;
    for (std::uint32_t i = 0; i < mark_words; ++i) words_[marks_word + i] = 0;
  }

 private:
  std::uint64_t* words_;
  std::uint64_t* tags_;
};

}  // namespace sonde::sim
