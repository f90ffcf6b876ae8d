// The lifetime of MPI. main encloses its `try` with a session and calls `abort` in the catch; a
// destructor never waits for others after an error (docs/running.md).
#pragma once

#include "base/exit_status.hpp"

#include <mpi.h>

#include <string>

namespace sonde {

/// True once SIGUSR1 or SIGTERM came: measuring ends at the next job border.
bool stop_requested();

/// "Open MPI v4.1.4"
std::string mpi_library_version();

class MpiSession {
 public:
  /// Installs the signal handlers, then starts MPI with errors returned, not fatal.
  /// @throws CommError
  MpiSession(int& argc, char**& argv);
  /// Finalizes MPI, unless an exception is under way.
  ~MpiSession();
  MpiSession(const MpiSession&) = delete;
  MpiSession& operator=(const MpiSession&) = delete;

  int rank() const { return rank_; }
  int size() const { return size_; }
  MPI_Comm world() const { return MPI_COMM_WORLD; }

  /// Ends all ranks at once: for the catch in main.
  [[noreturn]] void abort(ExitStatus status);

  /// The way out when a rank was lost, for every rank that is left: no collective, no finalize,
  /// which would wait for the lost one. Rank 0 calls it when its merge is done and ends everybody
  /// with its status; the others wait for that (up to `patience_s`, in case rank 0 dies), and
  /// leave.
  [[noreturn]] void leave_after_loss(ExitStatus status, double patience_s = 3600);

 private:
  int rank_ = 0;
  int size_ = 1;
};

}  // namespace sonde
