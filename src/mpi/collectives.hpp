// The collective steps of a run. All ranks of the communicator call them in the same order, never
// under a condition that can differ between ranks.
#pragma once

#include <mpi.h>

#include <functional>
#include <limits>
#include <optional>
#include <string>
#include <vector>

namespace sonde {

/// @throws CommError with MPI's own text if an MPI call failed
void check_mpi(int error_code, const char* call);
#define SONDE_MPI_CHECK(call) ::sonde::check_mpi((call), #call)

/// @throws CommError
int rank_of(MPI_Comm comm);
int size_of(MPI_Comm comm);

/// The name of this machine as people and Slurm know it: Slurm's name of the node (SLURMD_NODENAME)
/// if there is one, else the host name. Two machines may have the same name.
std::string node_name();

/// Collective. The texts of all ranks in rank order, on every rank. @throws CommError
std::vector<std::string> gather_texts(MPI_Comm comm, const std::string& text);

/// Collective. The same on the rank `root` only; empty on the others.
std::vector<std::string> gather_texts_on(int root, MPI_Comm comm, const std::string& text);

/// Collective. The text of the rank `root`, on every rank. @throws CommError
std::string broadcast_text(MPI_Comm comm, std::string text, int root = 0);

enum class Outcome { ok, failed };

/// Collective. "rank 3 on n2: <its reason>" for the lowest rank that failed, the same on every
/// rank; nothing if no rank failed. A failed rank waits no longer than `patience_s`: the others may
/// hang in the call that failed here, and then only an abort can free them.
/// @throws CommError, on one rank alone if its patience is over
std::optional<std::string> first_failure(MPI_Comm comm, Outcome outcome, const std::string& reason,
                                         double patience_s = std::numeric_limits<double>::max());

/// Collective. Does `work`. If it throws an Error on some ranks, all ranks throw the same
/// AgreedError with the first failing rank, its node and its reason.
/// @param on_end called after `work`, before the ranks wait for each other
void agree_after(MPI_Comm comm, const std::function<void()>& work,
                 const std::function<void()>& on_end = {});

}  // namespace sonde
