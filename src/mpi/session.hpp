// The lifetime of MPI. main encloses its `try` with a session and ends all ranks in the catch.
// After an error the destructor does not wait for other ranks (docs/running.md).
#pragma once

#include <mpi.h>

#include <string>

namespace sonde {

/// "Open MPI v4.1.4"
std::string mpi_library_version();

/// The rank that the launcher gave this process, from environment variables, which are the only
/// source before MPI starts. 0 if unknown.
int launched_rank();

class MpiSession {
 public:
  /// Starts MPI, with errors as return codes instead of aborts.
  /// @throws CommError
  MpiSession(int& argc, char**& argv);
  /// Finalizes MPI, unless an exception is under way.
  ~MpiSession();
  MpiSession(const MpiSession&) = delete;
  MpiSession& operator=(const MpiSession&) = delete;

  int rank() const { return rank_; }
  int size() const { return size_; }
  MPI_Comm world() const { return MPI_COMM_WORLD; }

 private:
  int rank_ = 0;
  int size_ = 1;
};

}  // namespace sonde
