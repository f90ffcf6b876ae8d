// Which lines share a set, whatever the index function and whatever the replacement: a set with one
// line too many misses in every pass of a cyclic chase, one without does not. Adaptive searches on
// that question alone; whoever asks (a device, a toy in a test) is the caller's business.
// Method: docs/methods/conflict-sets.md.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
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

/// Walks each list on its own, from an empty cache, until it is steady, and then some passes more.
using MissOracle = std::function<std::vector<MissCounts>(std::span<const Lines>)>;

/// Some set was too small for its lines: that costs at least one miss in every pass. Slow hits do
/// not repeat at a line, nor in every pass of a short chase.
bool overflows(const MissCounts& counts);

/// Whether line `i` missed again and again.
bool misses_again(const MissCounts& counts, std::size_t i);

/// Lines of one set, one more than it has ways: together they overflow it, and without any one of
/// them they do not.
struct EvictionSet {
  Lines lines;
  std::size_t fitting_lines = 0;  // of the pool, before the line that made it overflow

  std::size_t ways() const { return lines.size() - 1; }
};

/// The first set that a growing pool overfills, reduced to its smallest overflowing part.
/// nullopt with the reason in `reason` if the pool fits, or if no part of it overflows reliably.
std::optional<EvictionSet> find_eviction_set(const Lines& pool, const MissOracle& ask,
                                             std::string& reason);

/// Those of the candidates that share the set of the conflict: they miss co_resident as many of its
/// lines as it has ways. Asked in groups of at most half of what the pool could hold.
std::vector<bool> find_members(const EvictionSet& conflict, const Lines& candidates,
                               const MissOracle& ask);

}  // namespace sonde
