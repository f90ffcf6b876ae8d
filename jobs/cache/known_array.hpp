// A cache that another load path was seen to meet before: it is tried once, not searched again.
#pragma once

#include "jobs/chase/cache_under_test.hpp"

#include <string>

namespace sonde {

/// Whether loads of this path meet the array that an earlier job characterized as `known`: if
/// chases through the path, drawn for this question, all do as its structure predicts (as many
/// lines of a set as it has ways stay, one more does not; its size stays, a line more does not).
/// Then reports
/// its structure for the cache, with a remark and the confidence that so many predictions give; its
/// latencies are the caller's to report.
/// @param known as metrics name it: "cache.l1"
bool report_as_known_array(const CacheUnderTest& cache, const std::string& known);

}  // namespace sonde
