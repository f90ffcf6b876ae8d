// What one miss of a cache brings, and how long its lines are, asked before its size is known to
// the line: the first steps towards its geometry (jobs/cache/geometry).
#pragma once

#include "analysis/structure/capacity/miss_blocks.hpp"
#include "jobs/chase/cache_under_test.hpp"

#include <cstdint>
#include <functional>
#include <optional>

namespace sonde {

struct LineLength {
  std::uint64_t bytes = 0;
  double contrast = 0;  // 0..1: how clearly blocks up to the line and beyond it differ
};

/// Bytes that one miss brings: a first access in steps of 8 bytes, from the top down. In a space of
/// their own lines are accessed anew once all others there have pushed them out, so that caches
/// which nothing empties can be asked, too. nullopt with fewer than two misses.
/// Source: Mei and Chu 2016, section 4.2.
std::optional<BlockSize> measure_fetch(const CacheUnderTest& cache);

/// A span of so many times the size: one line for each block thrashes, half as many leave space in
/// every set even if they fall unevenly.
inline constexpr double sparse_span = 1.4;

struct SparseBlocks {
  bool stay = false;    // fewer of them miss than the limit
  double contrast = 0;  // 0..1: how far from that limit
  double missing = 0;   // share of them, 0..1
};

/// Blocks of one line each miss in one access of four, and more often.
inline constexpr double one_line_miss_fraction = 0.25;

/// Whether one access to each of so many blocks stays, over several orders where they are few.
SparseBlocks chase_sparse_blocks(const CacheUnderTest& cache, const std::string& label,
                                 std::uint64_t blocks,
                                 const std::function<Offsets(std::uint64_t seed)>& order,
                                 double miss_limit = one_line_miss_fraction);

/// The largest block of which one fetched unit takes the capacity of the whole: spans of 1.4 times
/// the size are touched with one unit in each block; they stay if a block is more than one line.
/// Where that leaves it open, constants and code by pairs of places.
/// @param coarse_size_bytes of the cache, to some per cent
LineLength measure_line(const CacheUnderTest& cache, std::uint64_t coarse_size_bytes,
                        std::uint64_t fetch_bytes);

/// Two places in blocks of a size, and what pushes them out.
struct PairQuestion {
  std::uint64_t block_bytes = 0;
  std::uint64_t first_bytes = 0;        // accessed before the other place, ...
  std::uint64_t second_bytes = 0;       // ... which that access does not bring along
  std::uint64_t others_step_bytes = 0;  // others are drawn from multiples of this, ...
  std::uint64_t others_at_bytes = 0;    // ... so far behind each
};

struct PairAnswer {
  bool one_line = false;
  double contrast = 0;  // 0..1
};

/// The two places of one block, anywhere, are accessed in turn, behind others that push out the
/// first one about every other time: if the second one is missing as often whether or not the first
/// one is, they are lines of their own; if it is missing when the first one is and only then, they
/// are one line. nullopt where no number of others does that.
/// @pre the cache is of a space of its own; what the others push out of the place of the first is
/// no
///   measure of what they push out of that of the second, if they are lines of their own
std::optional<PairAnswer> ask_pair(const CacheUnderTest& cache, const PairQuestion& question);

/// The largest block of which both halves are one line, from one access on. nullopt if pairs do not
/// tell.
std::optional<LineLength> measure_line_by_pairs(const CacheUnderTest& cache,
                                                std::uint64_t unit_bytes);

}  // namespace sonde
