// The sixteen programs one by one, each from the loops of its published source; programs.hpp lists
// them. docs/methods/bypass.md says of each what was left out.
#pragma once

#include "jobs/bypass/paper_program.hpp"

namespace sonde {

// Polybench-GPU (Grauer-Gray et al., InPar 2012): polybench.cpp, polybench_low.cpp.
PaperProgram syr2k();
PaperProgram gesummv();
PaperProgram atax();
PaperProgram mvt();
PaperProgram bicg();
PaperProgram covariance();
PaperProgram fdtd_2d();
PaperProgram convolution_2d();

// Rodinia (Che et al., IISWC 2009): rodinia.cpp.
PaperProgram particle_filter();
PaperProgram stream_cluster();
PaperProgram kmeans();
PaperProgram lu_decomposition();
PaperProgram srad2();

// LonestarGPU (Burtscher et al., IISWC 2012), and samples of the CUDA SDK that keep in the cache
// what they kept in shared memory (Li et al., ISPASS 2014): samples.cpp.
PaperProgram barnes_hut();
PaperProgram histogram();
PaperProgram scalar_product();

}  // namespace sonde
