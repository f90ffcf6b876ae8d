// What the traces of one device say behind its capacities: every timed access, by its clock window.
#pragma once

#include "analysis/results.hpp"

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace sonde {

/// Chases of one span and step: the mean of their clock windows.
struct SpanLatency {
  std::uint64_t span_bytes = 0;
  std::uint64_t step_bytes = 0;
  double window_cycles = 0;
  bool at_edge = false;  // from the search for the exact size
};

/// The chases of one job that looked for a capacity.
struct RawLatency {
  std::string job;                   // "cache.l1"
  std::size_t chases = 0;            // with recorded accesses
  std::vector<WindowCount> windows;  // all their recorded accesses, ascending
  std::vector<SpanLatency> spans;    // by at_edge, then step, then span
};

struct RawLatencies {
  std::size_t device = 0;  // of the run
  std::vector<RawLatency> jobs;
};

/// Chases whose label is "<job> coarse|size|span <bytes> step <bytes>", as the jobs of caches and
/// TLBs name those that look for a capacity (jobs/cache/capacity.hpp, jobs/tlb/page_chase.hpp).
/// @param job with its traces
RawLatency raw_latency(const JobResult& job);

}  // namespace sonde
