// Mean latency of the chases of one device that looked for capacities.
#pragma once

#include "analysis/results.hpp"

#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <vector>

namespace sonde {

/// The mean clock window of all chases of one span and step.
struct SpanLatency {
  std::uint64_t span_bytes = 0;
  std::uint64_t step_bytes = 0;
  double window_cycles = 0;
  bool at_edge = false;  // from the search for the exact size
  double accesses = 0;
};

/// The chases of one job through one load path that searched a capacity.
struct RawLatency {
  std::string job;                      // "cache.l1"
  std::string path;                     // "ca" (docs/load-paths.md)
  std::vector<SpanLatency> spans = {};  // of the first place, by at_edge, then step, then span
};

/// "cache.l1 through ca".
std::string name_of(const RawLatency& raw);

/// By number of the device in the run.
using RawLatencies = std::map<std::size_t, std::vector<RawLatency>>;

/// Devices with charts of their own: at most the GPUs of a node.
inline constexpr std::size_t most_chosen_devices = 8;

/// Chases with the label "<job> coarse|size|span <bytes> step <bytes>": searches of capacities by
/// the jobs of caches and TLBs (jobs/cache/capacity.hpp, jobs/tlb/page_chase.hpp). Replicates in
/// other places and on other SMs are left out.
/// @param job with its traces
std::vector<RawLatency> raw_latencies(const JobResult& job);

}  // namespace sonde
