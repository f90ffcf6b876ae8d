// Programs as accesses to memory, and the sixteen of Dai et al. (DAC 2016), table 2.
#pragma once

#include "device/program_probe.hpp"

#include <vector>

namespace sonde {

/// A program, and how an SM plays it.
struct PaperProgram {
  AccessProgram program;
  int resident_blocks = 1;  // that an SM of table 1 holds at once
  BypassLevel level = BypassLevel::warp;
  bool high_contention = false;  // by table 2
  bool taught = false;           // the model learns from it: five that the paper fits, and rows_8
};

/// All sixteen, in the order of table 2.
std::vector<PaperProgram> paper_programs();

// Each from the loops of its published source; docs/methods/bypass.md says what was left out.
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
