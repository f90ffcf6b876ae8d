// Links between simulated GPUs: a run's ranks on one host are peers of each other. What both ends
// of a link declare, and the lanes that either of them lost, become the one link that both see.
#pragma once

#include "base/error.hpp"
#include "device/sim/model/faults.hpp"

#include <algorithm>
#include <optional>
#include <string>

namespace sonde::sim {

/// A GPU that another one may reach into.
struct LinkedPeer {
  std::string uuid;
  std::optional<PeerModel> link;  // as it is; none: no way leads there
};

/// A GPU at one end of a link.
struct LinkEnd {
  const FaultyModel& faulty;
  int world_rank = 0;  // of the rank that measures it

  /// Of the lanes to the GPU of that rank.
  double left_share(int other_rank) const {
    double share = 1;
    for (const SharedPart& lost : faulty.faults.lost_lanes) {
      if (lost.part == other_rank) share = std::min(share, lost.share);
    }
    return share;
  }
};

/// The link as the first end sees it: of the kind that both have, with its own latency, as fast as
/// the slower end, with the lanes that neither has lost. None if one of them declares none, or
/// another kind.
inline std::optional<PeerModel> join_ends(const LinkEnd& from, const LinkEnd& to) {
  std::optional<PeerModel> link = from.faulty.model.units.peer;
  const auto& far = to.faulty.model.units.peer;
  if (!link || !far || link->nvlink != far->nvlink) return std::nullopt;
  link->bytes_per_s = std::min(from.left_share(to.world_rank), to.left_share(from.world_rank)) *
                      std::min(link->bytes_per_s, far->bytes_per_s);
  return link;
}

/// The link to that peer. @throws DeviceError if it is none of these, or no way leads there
inline const PeerModel& find_link(const std::vector<LinkedPeer>& peers, const std::string& uuid) {
  const auto peer = std::ranges::find(peers, uuid, &LinkedPeer::uuid);
  if (peer == peers.end()) throw DeviceError("GPU " + uuid + " is no peer of this GPU");
  if (peer->link) return *peer->link;
  throw DeviceError("no peer access to GPU " + uuid + " (no way leads from GPU to GPU)");
}

}  // namespace sonde::sim
