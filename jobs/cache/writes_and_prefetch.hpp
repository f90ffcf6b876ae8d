// How a cache treats stores and streams of misses.
#pragma once

#include "jobs/chase/cache_under_test.hpp"

#include <cstdint>
#include <optional>

namespace sonde {

/// Reports `.write_policy`: whether a resident line stays after a store to it, and whether a store
/// brings a cold line. At least 64 lines each, loaded once after the stores.
void report_write_policy(const CacheUnderTest& cache, std::uint64_t line_bytes);

/// The sector, if it is smaller than a fill: the smallest part of a cold line that hits after all
/// of it was stored, while the word after it misses. Tries `asked_bytes` and its doubles below
/// `fetch_bytes`. nullopt if stores fetch as much as loads, or allocate nothing.
std::optional<std::uint64_t> sector_of_stores(const CacheUnderTest& cache,
                                              std::uint64_t asked_bytes, std::uint64_t fetch_bytes);

/// Reports `.prefetch_bytes`: bytes after a cold miss that hit without an earlier access, in an
/// ascending chase in steps of one fill (Mei and Chu 2016, section 4.3). Constants and code are
/// chased repeatedly: in a space of at least twice the cache, their lines are as good as cold.
void report_prefetch(const CacheUnderTest& cache, std::uint64_t fetch_bytes);

}  // namespace sonde
