// What a cache does beyond keeping lines: with stores, and with streams of misses.
#pragma once

#include "jobs/chase/cache_under_test.hpp"

#include <cstdint>
#include <optional>

namespace sonde {

/// Reports `.write_policy`: whether a line that is there still is after a store to it, and whether
/// a store brings a line that was not. Sixty-four lines each, loaded once after the stores.
void report_write_policy(const CacheUnderTest& cache, std::uint64_t line_bytes);

/// How much of a line can be loaded once all of it was stored, while what follows it must come from
/// the memory: a sector that is smaller than what a fill brings. Asked in steps of two from
/// `asked_bytes` on, up to half of `fetch_bytes`, of lines that were not there. nullopt if stores
/// bring as much as loads, or nothing.
std::optional<std::uint64_t> sector_of_stores(const CacheUnderTest& cache,
                                              std::uint64_t asked_bytes, std::uint64_t fetch_bytes);

/// Reports `.prefetch_bytes`: how many bytes behind a cold miss hit without having been accessed,
/// on an ascending chase in steps of one fill (Mei and Chu 2016, section 4.3). Constants and code
/// are chased again and again: a space of at least twice the cache is as good as cold.
void report_prefetch(const CacheUnderTest& cache, std::uint64_t fetch_bytes);

}  // namespace sonde
