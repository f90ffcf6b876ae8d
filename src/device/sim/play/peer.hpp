// Links between simulated GPUs: the ranks of a run on one host are peers of each other. Both ends
// see one link, made from what both models declare and from the lanes that either end lost.
#pragma once

#include "base/error.hpp"
#include "device/sim/model/faults.hpp"

#include <algorithm>
#include <optional>
#include <string>

namespace sonde::sim {

/// A GPU whose memory another GPU may access.
struct LinkedPeer {
  std::string uuid;
  std::optional<PeerModel> link;  // with its faults; none: there is no link
};

/// A GPU at one end of a link.
struct LinkEnd {
  const FaultyModel& faulty;
  int world_rank = 0;  // of the rank that measures it

  /// Share of the lanes to the GPU of that rank that are left.
  double left_share(int other_rank) const {
    double share = 1;
    for (const SharedPart& lost : faulty.faults.lost_lanes) {
      if (lost.part == other_rank) share = std::min(share, lost.share);
    }
    return share;
  }
};

/// The link as the first end sees it: with the latency of that end, the rate of the slower end, and
/// the lanes that neither end lost. None if the ends declare no link of the same kind.
inline std::optional<PeerModel> join_ends(const LinkEnd& from, const LinkEnd& to) {
  std::optional<PeerModel> link = from.faulty.model.units.peer;
  const auto& far = to.faulty.model.units.peer;
  if (!link || !far || link->nvlink != far->nvlink) return std::nullopt;
  link->bytes_per_s = std::min(from.left_share(to.world_rank), to.left_share(from.world_rank)) *
                      std::min(link->bytes_per_s, far->bytes_per_s);
  return link;
}

/// The link to that peer. @throws DeviceError if it is no peer, or there is no link
inline const PeerModel& find_link(const std::vector<LinkedPeer>& peers, const std::string& uuid) {
  const auto peer = std::ranges::find(peers, uuid, &LinkedPeer::uuid);
  if (peer == peers.end()) throw DeviceError("GPU " + uuid + " is no peer of this GPU");
  if (peer->link) return *peer->link;
  throw DeviceError("no peer access to GPU " + uuid + " (there is no link between the two GPUs)");
}

}  // namespace sonde::sim
