// The home partitions of the chunks of a stream with groups. They follow from physical addresses,
// as for the lines of a chase. play/stream.cpp uses them.
#pragma once

#include "device/sim/play/launch.hpp"

#include <set>
#include <vector>

namespace sonde::sim {

/// By SM: the share of its group's chunks whose home is another partition of the L2. Empty for a
/// stream without groups.
inline std::vector<double> far_shares(const Launch& launch, const StreamProbe& probe) {
  if (probe.groups.empty()) return {};
  const ChaseLane lane{.sm = 0, .offsets_bytes = {0}, .path = probe.path};
  launch.memory.begin_probe(buffer_address(launch, probe.place, probe.footprint_bytes),
                            probe.footprint_bytes, choose_carveout(launch.die.info, 0, {}), {lane},
                            launch.seed);
  std::vector<double> shares(launch.die.sms.size(), 0);
  for (const StreamGroup& group : probe.groups) {
    std::vector<double> chunks(static_cast<std::size_t>(launch.model.partitions.count));  // by home
    for (const std::uint64_t offset_bytes : group.chunk_offsets_bytes) {
      chunks[launch.memory.locate(launch.memory.route_of(lane), offset_bytes).home] += 1;
    }
    const auto all = static_cast<double>(group.chunk_offsets_bytes.size());
    for (const int sm : group.sms) {
      const double near = chunks[static_cast<std::size_t>(launch.die.sm(sm).partition)];
      shares[static_cast<std::size_t>(sm)] = (all - near) / all;
    }
  }
  return shares;
}

/// Bytes of all chunks in the groups, each counted once.
inline double grouped_bytes(const StreamProbe& probe) {
  std::set<std::uint64_t> chunks;
  for (const StreamGroup& group : probe.groups) {
    chunks.insert(group.chunk_offsets_bytes.begin(), group.chunk_offsets_bytes.end());
  }
  return static_cast<double>(chunks.size() * stream_chunk_bytes);
}

}  // namespace sonde::sim
