// Bytes that one miss of a cache brings, and the length of its lines, measured before the exact
// size: the first steps towards the geometry (jobs/cache/geometry).
#pragma once

#include "analysis/structure/capacity/miss_blocks.hpp"
#include "jobs/chase/cache_under_test.hpp"

#include <cstdint>
#include <optional>

namespace sonde {

struct LineLength {
  std::uint64_t bytes = 0;
  double contrast = 0;  // 0..1: how clearly blocks up to the line differ from larger blocks
};

/// Bytes that one miss brings: the distance of misses in a first access to every word, from the top
/// down. If the cache has an address space of its own, all its other lines are accessed first,
/// because a flush does not empty every such cache. nullopt with fewer than two misses.
/// Source: Mei and Chu 2016, section 4.2.
std::optional<BlockSize> measure_fetch(const CacheUnderTest& cache);

/// The largest block of which one fetched unit occupies the room of the whole block. Chases one
/// unit per block over 1.4 times the size: they overflow if a block is one line. If that is unclear
/// for constants and code, pairs of places decide.
/// @param coarse_size_bytes accurate to some per cent
LineLength measure_line(const CacheUnderTest& cache, std::uint64_t coarse_size_bytes,
                        std::uint64_t fetch_bytes);

}  // namespace sonde
