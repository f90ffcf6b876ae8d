// Programs as sequences of memory accesses, with the sixteen of Dai et al. (DAC 2016), table 2.
#pragma once

#include "device/probe/program_probe.hpp"

#include <utility>
#include <vector>

namespace sonde {

/// A program, and how an SM runs it.
struct PaperProgram {
  AccessProgram program;
  int resident_blocks = 1;  // blocks that an SM of table 1 holds at once
  BypassLevel level = BypassLevel::warp;
  bool high_contention = false;  // according to table 2
  bool taught = false;           // the model learns from it: five that the paper fits, and rows_8
};

/// A program with several blocks per SM, some of which bypass the L1.
inline PaperProgram by_blocks(AccessProgram program, int resident_blocks) {
  return {.program = std::move(program),
          .resident_blocks = resident_blocks,
          .level = BypassLevel::block};
}

/// The same with high contention.
inline PaperProgram contended_by_blocks(AccessProgram program, int resident_blocks) {
  PaperProgram result = by_blocks(std::move(program), resident_blocks);
  result.high_contention = true;
  return result;
}

/// Number of blocks of 256 threads on an SM of table 1, which holds 1536 threads.
inline constexpr int six_blocks = 6;

/// All sixteen programs, in the order of table 2.
std::vector<PaperProgram> paper_programs();

// Each follows the loops of its published source; docs/methods/bypass.md lists what was left out.
// Polybench-GPU (Grauer-Gray et al., InPar 2012): polybench.cpp.
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
// LonestarGPU (Burtscher et al., IISWC 2012), and samples of the CUDA SDK changed to use the cache
// instead of shared memory (Li et al., ISPASS 2014): samples.cpp.
PaperProgram barnes_hut();
PaperProgram histogram();
PaperProgram scalar_product();

/// rows_8, rows_16 and rows_32, as far as a block may have so many warps. Every thread reads a row
/// of a matrix: a load of a warp accesses 32 lines, which the following loads reuse. An SM runs one
/// block, whose warps keep 32 lines each in use.
/// @param sm_count number of blocks
std::vector<PaperProgram> row_programs(int most_block_warps, int sm_count);

}  // namespace sonde
