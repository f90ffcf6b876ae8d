// Starting MPI, and the three ways out of it.
#include "mpi/session.hpp"

#include "mpi/collectives.hpp"

#include <chrono>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <thread>

namespace sonde {
namespace {

volatile std::sig_atomic_t stop_signal = 0;

void note_stop(int) { stop_signal = 1; }

void install_handlers() {
  struct sigaction action {};
  action.sa_handler = note_stop;
  action.sa_flags = SA_RESTART;
  sigemptyset(&action.sa_mask);
  for (const int signal : {SIGUSR1, SIGTERM}) sigaction(signal, &action, nullptr);
}

/// Settings of Open MPI that the file depends on; what the user set stays.
void choose_mpi_settings() {
  // Its lock files outlive a crash and can hang later jobs (open-mpi/ompi#10053).
  setenv("OMPI_MCA_sharedfp", "^lockedfile", 0);
  // ROMIO, the default on Lustre, crashes on chunked HDF5 (open-mpi/ompi#7795).
  setenv("OMPI_MCA_io", "ompio", 0);
  // The other ways of collective writing lose the error of a full disk on an aggregator (seen with
  // vulcan in 4.1.4: every rank is told that the write went well).
  setenv("OMPI_MCA_fcoll", "individual", 0);
  // Ranks that wait give way to those that still work on the same cores.
  setenv("OMPI_MCA_mpi_yield_when_idle", "1", 0);
}

}  // namespace

bool stop_requested() { return stop_signal != 0; }

std::string mpi_library_version() {
  char text[MPI_MAX_LIBRARY_VERSION_STRING] = "";
  int length = 0;
  MPI_Get_library_version(text, &length);
  const std::string version(text, static_cast<std::size_t>(length));
  return version.substr(0, version.find(','));
}

MpiSession::MpiSession(int& argc, char**& argv) {
  // First: a batch system may send SIGUSR1 in a job's first second, and its default action kills.
  install_handlers();
  choose_mpi_settings();
  int provided = 0;
  check_mpi(MPI_Init_thread(&argc, &argv, MPI_THREAD_FUNNELED, &provided), "MPI_Init_thread");
  SONDE_MPI_CHECK(MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN));
  rank_ = rank_of(MPI_COMM_WORLD);
  size_ = size_of(MPI_COMM_WORLD);
}

MpiSession::~MpiSession() {
  if (std::uncaught_exceptions() > 0) return;  // others may never come to a finalize
  MPI_Finalize();
}

void MpiSession::abort(ExitStatus status) {
  const int code = static_cast<int>(status);
  std::fflush(nullptr);
  MPI_Abort(MPI_COMM_WORLD, code);
  std::_Exit(code);
}

void MpiSession::leave_after_loss(ExitStatus status, double patience_s) {
  // Under mpirun and srun alike this also ends a lost rank that still hangs on its GPU.
  if (rank_ == 0) abort(status);
  std::fflush(nullptr);
  // Under mpirun a rank that exits without a finalize ends all others, so nobody leaves before rank
  // 0 has written the file. It ends this sleep, too.
  const auto end = std::chrono::steady_clock::now() + std::chrono::duration<double>(patience_s);
  while (std::chrono::steady_clock::now() < end) {
    std::this_thread::sleep_for(std::chrono::milliseconds(100));
  }
  std::_Exit(static_cast<int>(status));
}

}  // namespace sonde
