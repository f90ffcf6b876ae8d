// Distributed shared memory on a simulated GPU: a latency by the places of both SMs, and the ports
// that all readers of a GPC share.
#include "device/sim/play/noise.hpp"
#include "device/sim/play/play.hpp"

#include <algorithm>
#include <cmath>
#include <map>

namespace sonde::sim {
namespace {

const DsmModel& dsm_of(const Launch& launch) {
  return declared(launch.model.units.dsm, "distributed shared memory");
}

/// Latency of a load by one SM from the shared memory of another.
std::uint32_t pair_cycles(const Launch& launch, int reader, int target) {
  const DsmModel& dsm = dsm_of(launch);
  const DieSm& from = launch.die.sm(reader);
  const DieSm& to = launch.die.sm(target);
  if (reader == target) return dsm.own_cycles + from.slow_cycles;
  return (from.tpc == to.tpc ? dsm.tpc_cycles : dsm.gpc_cycles) + from.slow_cycles +
         static_cast<std::uint32_t>(std::lround(from.dsm_offset_cycles + to.dsm_offset_cycles));
}

Trace play_latency(const Launch& launch, const DsmProbe& probe) {
  const DsmModel& dsm = dsm_of(launch);
  Noise noise(launch.model, launch.seed);
  Trace trace;
  int number = 0;
  for (const std::vector<int>& cluster : fill_with_clusters(launch, probe.cluster_blocks)) {
    for (int reader : cluster) {
      for (int target : cluster) {
        const std::uint32_t cycles = pair_cycles(launch, reader, target);
        LaneTrace& lane = add_lane(trace, reader);
        lane.cluster = number;
        lane.accesses = probe.accesses;
        for (std::uint64_t i = 0; i < probe.accesses; ++i) {
          lane.window_cycles.push_back(noise.time(lane, cycles, dsm.jitter_cycles));
        }
      }
    }
    ++number;
  }
  return trace;
}

/// Number of SMs of each GPC that read at the same time.
std::map<int, int> readers_of_gpcs(const Launch& launch, const DsmProbe& probe,
                                   const std::vector<std::vector<int>>& clusters) {
  std::map<int, int> readers;
  for (const std::vector<int>& cluster : clusters) {
    for (int sm : cluster) {
      int& count = readers[launch.die.sm(sm).gpc];
      count = probe.concurrency == Concurrency::in_turn ? 1 : count + 1;
    }
  }
  return readers;
}

Trace play_stream(const Launch& launch, const DsmProbe& probe) {
  const DsmModel& dsm = dsm_of(launch);
  Noise noise(launch.model, launch.seed);
  resident_blocks(launch.model, probe.block_threads, launch.die.info.shared_bytes_per_block);
  check_data(launch);
  const std::vector<std::vector<int>> clusters = fill_with_clusters(launch, probe.cluster_blocks);
  const std::map<int, int> readers = readers_of_gpcs(launch, probe, clusters);
  const auto loads = probe.accesses * static_cast<std::uint64_t>(probe.block_threads);
  Trace trace;
  int number = 0;
  for (const std::vector<int>& cluster : clusters) {
    for (std::size_t rank = 0; rank < cluster.size(); ++rank) {
      const int reader = cluster[rank];
      const int target =
          cluster[(rank + static_cast<std::size_t>(probe.distance)) % cluster.size()];
      const double share = dsm.gpc_bytes_per_cycle / readers.at(launch.die.sm(reader).gpc);
      const double rate =
          reader == target ? dsm.own_bytes_per_cycle : std::min(dsm.port_bytes_per_cycle, share);
      const double cycles = static_cast<double>(loads) * dsm_element_bytes / rate;
      LaneTrace& lane = add_lane(trace, reader);
      lane.cluster = number;
      lane.accesses = loads;
      lane.elapsed_cycles = pair_cycles(launch, reader, target) +
                            noise.disturb(static_cast<std::uint32_t>(std::lround(cycles)),
                                          dsm.jitter_cycles * std::sqrt(cycles));
    }
    ++number;
  }
  return trace;
}

}  // namespace

Trace play(const Launch& launch, const DsmProbe& probe) {
  return probe.kind == DsmKind::latency ? play_latency(launch, probe) : play_stream(launch, probe);
}

}  // namespace sonde::sim
