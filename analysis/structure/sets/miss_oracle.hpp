// All searches for sets ask one question: does a cyclic chase over a list of lines miss in every
// pass? The caller supplies the MissOracle that answers: a device, or a toy cache in a test.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <vector>

namespace sonde {

/// Offsets of lines in bytes, no two of them in the same line of the cache.
using Lines = std::vector<std::uint64_t>;

/// Result of a cyclic chase over a list of lines, in the steady state.
struct MissCounts {
  std::vector<std::uint32_t> misses;  // of each line, over all passes
  std::uint32_t passes = 0;
  std::uint32_t passes_with_misses = 0;
  double outliers_per_pass = 0;  // accesses of one pass that look like misses but are none
};

/// For each list: starts with an empty cache, chases the list until it is steady, then counts the
/// misses of some more passes.
using MissOracle = std::function<std::vector<MissCounts>(std::span<const Lines>)>;

/// Counts the misses of `passes` passes. A pass accesses the list and then other lines. A miss of
/// another line counts only if the same line misses again: an outlier seldom repeats.
/// @param missed one entry per access, of all passes
/// @param listed number of lines of the list
MissCounts count_misses_of(const std::vector<bool>& missed, std::size_t listed,
                           std::uint64_t passes);

/// True if some set is too small for its lines. Such a set misses at least once in every pass.
/// Outliers do not repeat at the same line, nor in every pass of a short chase.
bool overflows(const MissCounts& counts);

/// True if line `i` missed in at least two passes (or in the only pass).
bool misses_again(const MissCounts& counts, std::size_t i);

/// Asks once. An empty list does not overflow.
bool overflows(const Lines& lines, const MissOracle& ask);

/// For each list, whether it overflows; asks once.
std::vector<bool> overflow_once(const std::vector<Lines>& lists, const MissOracle& ask);

/// The same; asks again about lists that overflow. Outliers in every pass of a long chase look like
/// an overflow, but seldom twice.
std::vector<bool> overflow_twice(const std::vector<Lines>& lists, const MissOracle& ask);

/// For each line, whether `residents` and this line together overflow.
std::vector<bool> overflow_with(const Lines& residents, const Lines& lines, const MissOracle& ask);

/// True if any line missed, even once, and outliers do not explain the miss.
bool any_misses(const MissCounts& counts);

/// @param lines of one set
/// @returns true if `count` of the lines miss in more than half of twelve random orders, even once.
/// Lines that fit seldom do. Random replacement hides most misses of one line too many.
bool miss_in_most_orders(const Lines& lines, std::size_t count, const MissOracle& ask);

/// At most `count` lines, from index `first` on.
Lines slice(const Lines& lines, std::size_t first, std::size_t count);

Lines shuffled(Lines lines, std::uint64_t seed);

/// The misses of a chase, summed over the lines of one set.
struct SetMisses {
  std::uint32_t lines = 0;
  std::uint32_t misses = 0;          // over all passes
  std::uint32_t most_of_a_line = 0;  // largest number of misses of any one line, over all passes

  void add(std::uint32_t misses_of_line) {
    ++lines;
    misses += misses_of_line;
    most_of_a_line = std::max(most_of_a_line, misses_of_line);
  }
};

/// True if the set overflows: it misses at least once in each pass. With four or more passes (as
/// for TLBs) noise may hide half of them. False if nearly every line missed exactly once: then
/// something else took a way of the set once.
bool set_overflows(const SetMisses& seen, const MissCounts& chase);

}  // namespace sonde
