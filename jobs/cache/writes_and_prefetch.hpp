// What a cache does beyond keeping lines: with stores, and with streams of misses.
#pragma once

#include "jobs/chase/cache_under_test.hpp"

namespace sonde {

/// Reports `.write_policy`: whether a line that is there still is after a store to it, and whether
/// a store brings a line that was not. Sixty-four lines each, loaded once after the stores.
void report_write_policy(const CacheUnderTest& cache, std::uint64_t line_bytes);

/// Reports `.prefetch_bytes`: how many bytes behind a cold miss hit without having been accessed,
/// on an ascending chase in steps of one fill (Mei and Chu 2016, section 4.3). Constants and code
/// are chased again and again: a space of at least twice the cache is as good as cold.
void report_prefetch(const CacheUnderTest& cache, std::uint64_t fetch_bytes);

}  // namespace sonde
