// One GPU's row of the matrix of a node: who can be asked, and what its links give. For
// jobs/peer/job.cpp, which reports it.
#pragma once

#include "jobs/run/job_run.hpp"

#include <array>
#include <string>
#include <vector>

namespace sonde {

/// What is measured of a link by streams.
struct LinkKind {
  StreamKind stream;
  const char* metric;
};
inline constexpr std::array link_kinds{LinkKind{StreamKind::read, "peer.read_bytes_per_s"},
                                       LinkKind{StreamKind::write, "peer.write_bytes_per_s"},
                                       LinkKind{StreamKind::copy, "peer.both_ways_bytes_per_s"}};

/// The GPUs of the node as this one reaches them.
struct PeerRow {
  std::vector<NodeGpu> gpus;
  std::vector<std::string> refusals;  // by GPU; empty: it can be asked, or is this one
  std::size_t own = 0;

  bool has(std::size_t gpu) const { return gpu != own && refusals[gpu].empty(); }
  std::size_t next() const { return (own + 1) % gpus.size(); }
  /// Those that it has.
  std::size_t links() const;
  /// Why some were not asked.
  std::string remark() const;
};

/// Asks each GPU for the first time: a context and memory there take their time, and disturb.
/// @throws DeviceLostError
PeerRow meet_peers(JobRun& run);

/// [GPU][replicate] samples.
using PeerSamples = std::vector<std::vector<std::vector<double>>>;

/// What was measured in this GPU's turn: nothing of the GPUs that the row does not have.
struct MeasuredRow {
  PeerSamples latency_cycles;
  std::array<PeerSamples, link_kinds.size()> rates;  // bytes per second
  std::array<StreamProbe, link_kinds.size()> shapes;
};

/// @pre the row has a link @throws DeviceError, DeviceLostError
MeasuredRow measure_row(JobRun& run, const PeerRow& row);

/// A part of the reads that go on for as long as all GPUs are at it.
struct ReadPiece {
  TimeSpan span;
  std::vector<double> rates;
};

/// Reads from the next GPU from that time on, without a pause, for a tenth of a second (full suite:
/// half a second). Where time is simulated a piece takes next to none: then one begins after the
/// other at the pace of a real GPU.
/// @param usual_rate bytes per second, of this link alone
/// @throws DeviceError, DeviceLostError
std::vector<ReadPiece> read_pieces(JobRun& run, const PeerRow& row, StreamProbe shape,
                                   double usual_rate, std::int64_t begin_unix_ns);

}  // namespace sonde
