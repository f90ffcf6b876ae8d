#include "mpi/session.hpp"

#include "mpi/collectives.hpp"

#include <cstdlib>
#include <exception>
#include <utility>

namespace sonde {
namespace {

/// Defaults that writing the run file needs; a variable that the user has set keeps its value.
constexpr std::pair<const char*, const char*> settings[]{
    // Its lock files outlive a crash and can hang later jobs (open-mpi/ompi#10053).
    {"OMPI_MCA_sharedfp", "^lockedfile"},
    // ROMIO, the default on Lustre, crashes on chunked HDF5 (open-mpi/ompi#7795).
    {"OMPI_MCA_io", "ompio"},
    // The other methods of collective writing lose the error of a full disk on an aggregator (seen
    // with vulcan in 4.1.4: every rank is told that the write succeeded).
    {"OMPI_MCA_fcoll", "individual"},
    // Without a launcher Open MPI 4 starts a daemon that could start more ranks. It takes 0.2 s.
    {"OMPI_MCA_ess_singleton_isolated", "1"},
    // Waiting ranks yield the CPU to ranks that work on the same core.
    {"OMPI_MCA_mpi_yield_when_idle", "1"}};

}  // namespace

std::string mpi_library_version() {
  char text[MPI_MAX_LIBRARY_VERSION_STRING] = "";
  int length = 0;
  MPI_Get_library_version(text, &length);
  const std::string version(text, static_cast<std::size_t>(length));
  return version.substr(0, version.find(','));
}

int launched_rank() {
  for (const char* name : {"OMPI_COMM_WORLD_RANK", "PMIX_RANK", "SLURM_PROCID"}) {
    if (const char* rank = std::getenv(name))
      return static_cast<int>(std::strtol(rank, nullptr, 10));
  }
  return 0;
}

MpiSession::MpiSession(int& argc, char**& argv) {
  for (const auto& [name, value] : settings) setenv(name, value, 0);
  int provided = 0;
  check_mpi(MPI_Init_thread(&argc, &argv, MPI_THREAD_FUNNELED, &provided), "MPI_Init_thread");
  SONDE_MPI_CHECK(MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN));
  rank_ = rank_of(MPI_COMM_WORLD);
  size_ = size_of(MPI_COMM_WORLD);
}

MpiSession::~MpiSession() {
  if (std::uncaught_exceptions() > 0) return;  // other ranks may never call MPI_Finalize
  MPI_Finalize();
}

}  // namespace sonde
