// Who measures what: a pure decision on what all ranks can see.
#pragma once

#include "trace/inventory.hpp"

#include <optional>
#include <string>
#include <vector>

namespace sonde {

/// What one rank sees. Ranks are on one machine if they share memory, whatever its name is.
struct RankView {
  int rank = 0;
  int machine = 0;                 // the lowest rank on it
  std::string node;                // its name
  std::vector<std::string> uuids;  // in the order of their ordinals
  bool restricted = false;         // CUDA_VISIBLE_DEVICES is set for this rank
};

struct Assignment {
  std::vector<std::optional<std::string>> uuid_of_rank;  // nothing: the rank stands down
  std::vector<UnauditedDevice> unaudited;                // seen, but nobody's
};

/// Matches ranks to GPUs so that as many GPUs as possible are measured and none by two ranks; ranks
/// that see the same GPUs take them in rank order. A rank for which none is left stands down if the
/// ranks that hold its GPUs see exactly what it sees. Otherwise the binding itself asks for one GPU
/// twice, and that is an error: ranks bound by CUDA_VISIBLE_DEVICES to the same single GPU, sets
/// that overlap and do not suffice, or one GPU seen from two machines (containers).
/// @param views one for each rank, in rank order, the same on every rank
/// @throws AgreedError naming both ranks, their nodes and the GPU
Assignment assign_devices(const std::vector<RankView>& views);

/// One line on the names that several machines have, and on how many; empty if there are none.
std::string describe_shared_names(const std::vector<RankView>& views);

}  // namespace sonde
