// Who measures what: a pure decision on what all ranks can see.
#pragma once

#include "trace/inventory.hpp"

#include <optional>
#include <string>
#include <vector>

namespace sonde {

/// What one rank sees. `node` is the same number for ranks that share memory.
struct RankView {
  int rank = 0;
  int node = 0;
  std::string host;
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
/// that overlap and do not suffice, or one GPU seen from two nodes (containers).
/// @param views one for each rank, in rank order, the same on every rank
/// @throws AgreedError naming both ranks, their hosts and the GPU
Assignment assign_devices(const std::vector<RankView>& views);

}  // namespace sonde
