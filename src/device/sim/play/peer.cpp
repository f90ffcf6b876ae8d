// From the two ends of a link to what goes through it.
#include "device/sim/play/peer.hpp"

#include "base/error.hpp"

#include <algorithm>

namespace sonde::sim {
namespace {

double left_share(const LinkEnd& end, int other_rank) {
  double share = 1;
  for (const SharedPart& lost : end.faulty.faults.lost_lanes) {
    if (lost.part == other_rank) share = std::min(share, lost.share);
  }
  return share;
}

}  // namespace

std::optional<PeerModel> join_ends(const LinkEnd& from, const LinkEnd& to) {
  const auto& near = from.faulty.model.units.peer;
  const auto& far = to.faulty.model.units.peer;
  if (!near || !far || near->nvlink != far->nvlink) return std::nullopt;
  const double share = std::min(left_share(from, to.world_rank), left_share(to, from.world_rank));
  PeerModel link = *near;
  link.bytes_per_s = share * std::min(near->bytes_per_s, far->bytes_per_s);
  return link;
}

const PeerModel& find_link(const std::vector<LinkedPeer>& peers, const std::string& uuid) {
  const auto peer = std::ranges::find(peers, uuid, &LinkedPeer::uuid);
  if (peer == peers.end()) throw DeviceError("GPU " + uuid + " is no peer of this GPU");
  if (!peer->link) {
    throw DeviceError("no peer access to GPU " + uuid + " (no way leads from GPU to GPU)");
  }
  return *peer->link;
}

}  // namespace sonde::sim
