// The one question that all searches for sets ask: does a cyclic chase over a list of lines keep
// missing? Whoever answers (a device, a toy in a test) is the caller's business.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <vector>

namespace sonde {

/// Offsets of lines: each in another line of the cache.
using Lines = std::vector<std::uint64_t>;

/// What a steady cyclic chase over a list of lines showed.
struct MissCounts {
  std::vector<std::uint32_t> misses;  // of each line, over all passes
  std::uint32_t passes = 0;
  std::uint32_t passes_with_misses = 0;
  double outliers_per_pass = 0;  // accesses of one pass that look like misses and are none
};

/// Chases each list on its own, from an empty cache, until it is steady, and then some passes more.
using MissOracle = std::function<std::vector<MissCounts>(std::span<const Lines>)>;

/// Misses of `passes` passes over a list and what was accessed behind it, of which a miss counts if
/// it comes again, unlike an outlier: that may be much.
/// @param missed access by access  @param listed lines of the list
MissCounts count_misses_of(const std::vector<bool>& missed, std::size_t listed,
                           std::uint64_t passes);

/// Some set was too small for its lines: that costs at least one miss in every pass. Outliers do
/// not repeat at a line, nor in every pass of a short chase.
bool overflows(const MissCounts& counts);

/// Whether line `i` missed again and again.
bool misses_again(const MissCounts& counts, std::size_t i);

/// Whether the list overflows when asked once. An empty one does not, and is not asked.
bool overflows(const Lines& lines, const MissOracle& ask);

/// Of each list whether it overflows.
std::vector<bool> overflow_once(const std::vector<Lines>& lists, const MissOracle& ask);

/// Of each list whether it overflows, and again when asked again: outliers in every pass of a long
/// chase look like an overflow, but hardly twice.
std::vector<bool> overflow_twice(const std::vector<Lines>& lists, const MissOracle& ask);

/// Of each line whether it overflows a set together with these residents of it.
std::vector<bool> overflow_with(const Lines& residents, const Lines& lines, const MissOracle& ask);

/// Whether any line missed, if only once, other than by an outlier.
bool any_misses(const MissCounts& counts);

/// Whether `count` of the lines, which share a set, miss in most of twelve orders, if only once:
/// lines that fit hardly do, and random victims hide most misses of a line too many.
bool miss_in_most_orders(const Lines& lines, std::size_t count, const MissOracle& ask);

/// `count` of the lines from `first` on, or as many as there are.
Lines slice(const Lines& lines, std::size_t first, std::size_t count);

/// The lines in a random order.
Lines shuffled(Lines lines, std::uint64_t seed);

/// What a chase showed of the lines of one set.
struct SetMisses {
  std::uint32_t lines = 0;
  std::uint32_t misses = 0;          // over all passes
  std::uint32_t most_of_a_line = 0;  // likewise

  void add(std::uint32_t misses_of_line) {
    ++lines;
    misses += misses_of_line;
    most_of_a_line = std::max(most_of_a_line, misses_of_line);
  }
};

/// Whether lines of one set that missed so often overflow it: at least one in each pass; of four
/// and more, as of TLBs, noise may cover half. Where something else takes a way once, all are lost,
/// once.
bool set_overflows(const SetMisses& seen, const MissCounts& chase);

}  // namespace sonde
