// Versions of the libraries that decide how a run behaved, for its provenance.
#include "commands/finish.hpp"
#include "store/output.hpp"

#include <fmt/format.h>
#include <mpi.h>

namespace sonde {

std::string describe_libraries() {
  char text[MPI_MAX_LIBRARY_VERSION_STRING] = "";
  int length = 0;
  MPI_Get_library_version(text, &length);
  std::string mpi_library(text, static_cast<std::size_t>(length));
  mpi_library = mpi_library.substr(0, mpi_library.find(','));
  return fmt::format("{}, {}", store_library_version(), mpi_library);
}

}  // namespace sonde
