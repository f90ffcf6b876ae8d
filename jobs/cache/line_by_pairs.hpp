// Whether two places lie in one line of a cache, seen by whether they leave it together. Needs no
// capacity that is sharp: sets of one way, hashed or replaced at random, do as well.
#pragma once

#include "jobs/cache/line_length.hpp"
#include "jobs/chase/cache_under_test.hpp"

#include <optional>

namespace sonde {

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
