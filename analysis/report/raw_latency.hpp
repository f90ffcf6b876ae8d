// Mean latency of the chases of one device that looked for capacities.
#pragma once

#include "analysis/results.hpp"

#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <vector>

namespace sonde {

/// Chases of one span and step: the mean of their clock windows.
struct SpanLatency {
  std::uint64_t span_bytes = 0;
  std::uint64_t step_bytes = 0;
  double window_cycles = 0;
  bool at_edge = false;  // from the search for the exact size
  double accesses = 0;
};

/// The chases of one job through one load path that looked for a capacity.
struct RawLatency {
  std::string job;                      // "cache.l1"
  std::string path;                     // "ca" (docs/load-paths.md)
  std::vector<SpanLatency> spans = {};  // of the first place, by at_edge, then step, then span
};

/// "cache.l1 through ca".
std::string name_of(const RawLatency& raw);

/// Of some devices of a run, by their number.
using RawLatencies = std::map<std::size_t, std::vector<RawLatency>>;

/// Charts of one device are made of so many: the GPUs of a node.
inline constexpr std::size_t most_chosen_devices = 8;

/// Chases whose label is "<job> coarse|size|span <bytes> step <bytes>", as the jobs of caches and
/// TLBs name those that look for a capacity (jobs/cache/capacity.hpp, jobs/tlb/page_chase.hpp), by
/// load path. Replicates, in other places and on other SMs, repeat what lies around an edge and are
/// left out.
/// @param job with its traces
std::vector<RawLatency> raw_latencies(const JobResult& job);

}  // namespace sonde
