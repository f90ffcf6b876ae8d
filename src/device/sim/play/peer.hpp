// Links between simulated GPUs: a run's ranks on one host are peers of each other. What both ends
// of a link declare, and the lanes that either of them lost, become the one link that both see.
#pragma once

#include "device/sim/model/faults.hpp"

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
};

/// The link as the first end sees it: of the kind that both have, with its own latency, as fast as
/// the slower end, with the lanes that neither has lost. None if one of them declares none, or
/// another kind.
std::optional<PeerModel> join_ends(const LinkEnd& from, const LinkEnd& to);

/// The link to that peer. @throws DeviceError if it is none of these, or no way leads there
const PeerModel& find_link(const std::vector<LinkedPeer>& peers, const std::string& uuid);

}  // namespace sonde::sim
