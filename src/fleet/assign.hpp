// Decides which rank measures which GPU, and lets one of several ranks do a piece of work.
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

/// What one rank sees. Two ranks are on one machine if they share memory, whatever the names are.
struct RankView {
  int rank = 0;
  int machine = 0;                                      // the lowest rank on this machine
  std::string node;                                     // name of the machine
  std::vector<std::string> uuids;                       // of the visible GPUs, by ordinal
  bool restricted = false;                              // CUDA_VISIBLE_DEVICES is set for this rank
  std::vector<std::string> names{};                     // product names of these GPUs
  int sm_count = 0;                                     // of the GPU with the most SMs
  std::vector<std::uint64_t> shared_carveouts_bytes{};  // of all these GPUs
};

/// The result of assign_devices.
struct Assignment {
  std::vector<std::optional<std::string>> uuid_of_rank;  // nothing: the rank measures no GPU
  std::vector<UnauditedDevice> unaudited;                // GPUs that no rank measures
};

/// Matches ranks to GPUs so that as many GPUs as possible are measured, none by two ranks. Ranks
/// that see the same GPUs take them in rank order. A rank without a GPU measures no GPU if the
/// ranks that hold its GPUs see exactly the same GPUs. All other cases are errors: two ranks bound
/// by CUDA_VISIBLE_DEVICES to one GPU, overlapping sets without enough GPUs, or a GPU that is seen
/// from two machines (containers).
/// @param views one for each rank, in rank order, the same on every rank
/// @throws AgreedError naming both ranks, their nodes and the GPU
Assignment assign_devices(const std::vector<RankView>& views);

/// One line that lists names of nodes that several machines have; empty if there are none.
std::string describe_shared_names(const std::vector<RankView>& views);

/// Calls `work` on one of the ranks that call this; the others wait for its result. If that rank
/// shows no sign of life for `silence_s`, another rank takes over.
/// @param work must show signs of life itself
/// @returns the status of `work`, on all ranks; ExitStatus::error if eight ranks were lost at it
ExitStatus do_once(const std::filesystem::path& parts, int rank,
                   const std::function<ExitStatus()>& work, const Patience& patience,
                   const Lookout& lookout);

/// Removes the files of do_once of an earlier run. Called by rank 0 before any rank works.
void clear_claims(const std::filesystem::path& parts);

}  // namespace sonde
