// The homes of chunks follow from their physical addresses, as those of the lines of a chase do.
#include "device/sim/play/stream_homes.hpp"

#include <algorithm>
#include <numeric>
#include <set>

namespace sonde::sim {

std::vector<double> far_shares(const Launch& launch, const StreamProbe& probe) {
  if (probe.groups.empty()) return {};
  const ChaseLane lane{.sm = 0, .offsets_bytes = {0}, .path = probe.path};
  launch.memory.begin_probe(buffer_address(launch, probe.place, probe.footprint_bytes),
                            probe.footprint_bytes, choose_carveout(launch.die.info, 0, {}), {lane},
                            launch.seed);
  std::vector<double> shares(launch.die.sms.size(), 0);
  for (const StreamGroup& group : probe.groups) {
    std::vector<double> chunks(static_cast<std::size_t>(launch.model.partitions.count));  // by home
    for (const std::uint64_t offset_bytes : group.chunk_offsets_bytes) {
      const Access access = launch.memory.locate(launch.memory.route_of(lane), offset_bytes);
      chunks[access.home] += 1;
    }
    for (const int sm : group.sms) {
      const auto at = static_cast<std::size_t>(sm);
      const double near = chunks[static_cast<std::size_t>(launch.die.sms[at].partition)];
      const double all = std::accumulate(chunks.begin(), chunks.end(), 0.0);
      shares[at] = (all - near) / all;
    }
  }
  return shares;
}

double grouped_bytes(const StreamProbe& probe) {
  std::set<std::uint64_t> chunks;
  for (const StreamGroup& group : probe.groups) {
    chunks.insert(group.chunk_offsets_bytes.begin(), group.chunk_offsets_bytes.end());
  }
  return static_cast<double>(chunks.size() * stream_chunk_bytes);
}

}  // namespace sonde::sim
