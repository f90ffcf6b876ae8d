// A GPU's row of the matrix of a node: which GPUs it can reach, and what its links deliver. Used by
// jobs/peer/job.cpp.
#pragma once

#include "jobs/run/job_run.hpp"

#include <array>
#include <string>
#include <vector>

namespace sonde {

/// A rate of a link that streams measure.
struct LinkKind {
  StreamKind stream;
  const char* metric;
};
inline constexpr std::array link_kinds{LinkKind{StreamKind::read, "peer.read_bytes_per_s"},
                                       LinkKind{StreamKind::write, "peer.write_bytes_per_s"},
                                       LinkKind{StreamKind::copy, "peer.both_ways_bytes_per_s"}};

/// The GPUs of the node as this GPU reaches them.
struct PeerRow {
  std::vector<NodeGpu> gpus;
  std::vector<std::string> refusals;  // by GPU; empty if the GPU can be reached, or is this one
  std::size_t own = 0;

  bool has(std::size_t gpu) const { return gpu != own && refusals[gpu].empty(); }
  std::size_t next() const { return (own + 1) % gpus.size(); }
  /// Number of GPUs that can be reached.
  std::size_t links() const;
  /// Why some GPUs were not measured.
  std::string remark() const;
};

/// Accesses each GPU once: creating a context and memory there takes time and disturbs others.
/// @throws DeviceLostError
PeerRow meet_peers(JobRun& run);

/// [GPU][replicate] samples.
using PeerSamples = std::vector<std::vector<std::vector<double>>>;

/// Measurements of this GPU's turn; empty for GPUs that it cannot reach.
struct MeasuredRow {
  PeerSamples latency_cycles;
  std::array<PeerSamples, link_kinds.size()> rates;  // bytes per second
  std::array<StreamProbe, link_kinds.size()> shapes;
};

/// @pre the row has a link @throws DeviceError, DeviceLostError
MeasuredRow measure_row(JobRun& run, const PeerRow& row);

/// A piece of the reads while all GPUs are active.
struct ReadPiece {
  TimeSpan span;
  std::vector<double> rates;
};

/// Reads from the next GPU, from the given time on, without a pause for a tenth of a second (full
/// suite: half a second). In simulated time a piece takes almost no time; then pieces begin at the
/// pace of a real GPU.
/// @param usual_rate bytes per second when only this link is used
/// @throws DeviceError, DeviceLostError
std::vector<ReadPiece> read_pieces(JobRun& run, const PeerRow& row, StreamProbe shape,
                                   double usual_rate, std::int64_t begin_unix_ns);

}  // namespace sonde
