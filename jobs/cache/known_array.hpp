// A cache that is already known from another load path: it is checked, not searched again.
#pragma once

#include "jobs/cache/geometry.hpp"
#include "jobs/sets/search.hpp"

#include <string>

namespace sonde {

/// What an earlier job found, and how well chases through another path confirmed it (they did
/// confirm `size`).
struct KnownArray {
  std::string name;  // prefix of its metrics: "cache.l1"
  std::uint64_t size_bytes = 0;
  std::uint64_t line_bytes = 0;
  SetLayout layout = {};
  Predictions size = {};
  Predictions sets = {};

  /// If false, only the index may differ, as for textures.
  bool is_same() const { return sets.bear_out(); }
};

/// Checks whether loads of this path use an array of known size (exact to a line) and known sets:
/// as many lines of a set as it has ways stay, one more does not. nullopt if size or sets are not
/// known, or if chases through this path contradict the size.
/// @param name prefix of the metrics of the known cache
std::optional<KnownArray> try_known_array(const CacheUnderTest& cache, const std::string& name);

/// Reports the known findings for the cache, with a remark and a confidence from the predictions.
/// The caller reports the latencies. @pre known.is_same()
void report_as_known(const CacheUnderTest& cache, const KnownArray& known);

/// The known size and line, and the measured fetch of this path. nullopt if the fetch is not
/// measured, or if the array does not hold whole lines.
std::optional<CacheGeometry> geometry_of(const CacheUnderTest& cache, const KnownArray& known);

}  // namespace sonde
