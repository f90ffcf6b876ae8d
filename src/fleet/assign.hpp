// Who measures what: a pure decision on what all ranks can see.
#pragma once

#include "base/exit_status.hpp"
#include "fleet/rendezvous.hpp"
#include "trace/inventory.hpp"

#include <filesystem>
#include <functional>
#include <optional>
#include <string>
#include <vector>

namespace sonde {

/// What one rank sees. Ranks are on one machine if they share memory, whatever its name is.
struct RankView {
  int rank = 0;
  int machine = 0;                                      // the lowest rank on it
  std::string node;                                     // its name
  std::vector<std::string> uuids;                       // in the order of their ordinals
  bool restricted = false;                              // CUDA_VISIBLE_DEVICES is set for this rank
  std::vector<std::string> names{};                     // of the models of these GPUs
  int sm_count = 0;                                     // of the largest of them
  std::vector<std::uint64_t> shared_carveouts_bytes{};  // that any of them has
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

/// Calls `work` on one of the ranks that call this; the others wait for its result. If the one that
/// works shows no sign of life for `silence_s`, another takes over.
/// @param work on the rank that got it; must show life itself
/// @returns on all ranks the status that `work` came to
ExitStatus do_once(const std::filesystem::path& parts, int rank,
                   const std::function<ExitStatus()>& work, const Patience& patience,
                   const Lookout& lookout);

/// Removes the traces of an earlier run's do_once. By rank 0, before any rank works.
void clear_claims(const std::filesystem::path& parts);

}  // namespace sonde
