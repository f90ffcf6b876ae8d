// What GPUs of a node are to each other, as matrices: a row for each GPU that measured, a column
// for each GPU that was asked, both by rank.
#pragma once

#include "analysis/metrics.hpp"
#include "analysis/report/table.hpp"
#include "analysis/results.hpp"

#include <span>
#include <string>
#include <vector>

namespace sonde {

struct PeerMatrix {
  std::string title;  // "node03: peer.read_bytes_per_s, GB/s (nvlink)"
  TextTable table;
};

/// Those of the job `peer`, node by node; of many nodes those with a slow link first, and only so
/// many. Empty for a run that measured no peers.
std::vector<PeerMatrix> peer_matrices(const RunResult& run, std::span<const Metric> registry);

}  // namespace sonde
