// A run file with nothing in it but an attribute.
#include "store/trial_file.hpp"

#include "mpi/collectives.hpp"
#include "store/hdf5/hdf5.hpp"

namespace sonde {

void write_trial_file(const std::filesystem::path& path, MPI_Comm comm) {
  hdf5::File file = hdf5::File::create_together(path, comm);
  hdf5::write_attribute(file, "ranks", static_cast<std::uint64_t>(size_of(comm)));
  file.close();
}

}  // namespace sonde
