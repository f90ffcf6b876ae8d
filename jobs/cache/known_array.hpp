// A cache that another load path was seen to meet before: it is tried, not searched again.
#pragma once

#include "jobs/cache/geometry.hpp"
#include "jobs/sets/search.hpp"

#include <string>

namespace sonde {

/// What an earlier job characterized, and what chases through another path made of it: they
/// bear out `size`.
struct KnownArray {
  std::string name;  // as metrics name it: "cache.l1"
  std::uint64_t size_bytes = 0;
  std::uint64_t line_bytes = 0;
  SetLayout layout = {};
  Predictions size = {};
  Predictions sets = {};

  /// Whether all is as known; else the index may be another, as for textures.
  bool is_same() const { return sets.bear_out(); }
};

/// Whether loads of this path meet an array of that size, to a line; and of those sets: as many
/// lines of one as it has ways stay, and one more does not. nullopt if size or sets are not known,
/// or chases through this path contradict the size.
/// @param name as metrics name it
std::optional<KnownArray> try_known_array(const CacheUnderTest& cache, const std::string& name);

/// Reports what is known for the cache, with a remark and the confidence that so many predictions
/// give; its latencies are the caller's to report. @pre known.is_same()
void report_as_known(const CacheUnderTest& cache, const KnownArray& known);

/// Size and line as known, and what a miss through this path brings. nullopt if that does not show,
/// or if the array does not hold all of its lines.
std::optional<CacheGeometry> geometry_of(const CacheUnderTest& cache, const KnownArray& known);

}  // namespace sonde
