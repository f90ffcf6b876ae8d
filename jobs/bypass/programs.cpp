// The sixteen programs, each of which stands in the file of its collection.
#include "jobs/bypass/programs.hpp"

namespace sonde {

std::vector<PaperProgram> paper_programs() {
  return {particle_filter(),
          stream_cluster(),
          barnes_hut(),
          histogram(),
          syr2k(),
          kmeans(),
          gesummv(),
          atax(),
          mvt(),
          bicg(),
          scalar_product(),
          covariance(),
          lu_decomposition(),
          srad2(),
          fdtd_2d(),
          convolution_2d()};
}

}  // namespace sonde
