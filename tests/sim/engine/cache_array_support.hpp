// Caches of equal sets for the tests of cache_array_test.cpp and replacement_test.cpp.
#pragma once

#include "device/sim/memory/cache_array.hpp"

#include <string>

namespace sonde::sim {

inline constexpr std::uint64_t line_bytes = 128;

/// One cache of equal sets that follow each other line by line.
inline CacheArray make_cache(DeclaredPolicy policy, std::uint32_t sets, std::uint32_t ways,
                             std::vector<double> weights = {}, WritePolicy write_policy = {}) {
  CacheModel model;
  model.write_policy = write_policy;
  model.line_bytes = model.sector_bytes = model.fetch_bytes = line_bytes;
  Geometry geometry;
  geometry.ways_per_set.assign(sets, ways);
  geometry.index.kind = DeclaredIndex::Kind::modulo;
  geometry.index.granularity_bytes = line_bytes;
  geometry.replacement = {policy, std::move(weights)};
  CacheArray cache(model, geometry);
  cache.clear(1);
  return cache;
}

/// Reads lines named by letters; gives the letters that missed.
inline std::string misses(CacheArray& cache, const std::string& lines) {
  std::string missed;
  for (char letter : lines) {
    if (!cache.access(static_cast<std::uint64_t>(letter) * line_bytes)) missed += letter;
  }
  return missed;
}

}  // namespace sonde::sim
