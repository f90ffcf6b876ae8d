// The few collective steps of a run. All ranks of the communicator call them in the same order,
// never under a condition that can differ between ranks.
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

int rank_of(MPI_Comm comm);
int size_of(MPI_Comm comm);

/// What this machine is called wherever people or Slurm read it: Slurm's name of the node
/// (SLURMD_NODENAME) if there is one, else the host name. Only a name: two machines may share it.
std::string node_name();

/// Collective. One text per rank, in rank order, the same everywhere. @throws CommError
std::vector<std::string> gather_texts(MPI_Comm comm, const std::string& text);

/// The same on the rank `root`; none elsewhere.
std::vector<std::string> gather_texts_on(int root, MPI_Comm comm, const std::string& text);

/// Collective. The text of the rank `root`, everywhere. @throws CommError
std::string broadcast_text(MPI_Comm comm, std::string text, int root = 0);

enum class Outcome { ok, failed };

/// Collective. "rank 3 on n2: <its reason>" of the lowest rank that failed, the same everywhere;
/// nothing if all are well. A rank that failed itself waits for the others no longer than
/// `patience_s`: they may hang in the very call that failed here, and only an abort can free them.
/// @throws CommError, on one rank alone if its patience ended
std::optional<std::string> first_failure(MPI_Comm comm, Outcome outcome, const std::string& reason,
                                         double patience_s = std::numeric_limits<double>::max());

/// Collective. Does `work`, which may throw an Error on some ranks: then all throw the same
/// AgreedError with the first failing rank, its node and its reason.
/// @param on_end called behind it, before ranks wait for each other
void agree_after(MPI_Comm comm, const std::function<void()>& work,
                 const std::function<void()>& on_end = {});

}  // namespace sonde
