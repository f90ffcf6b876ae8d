// Programs made for the L1 at hand: every thread reads a row of a matrix, so that a load of a warp
// takes 32 lines and its data come back in the loads that follow.
#pragma once

#include "jobs/bypass/programs.hpp"

#include <cstdint>
#include <vector>

namespace sonde {

/// rows_8, rows_16 and rows_32: one block of so many warps on an SM, as far as a block may have
/// them. Together they keep 32 lines a warp in use.
/// @param sm_count for which there is a block each
std::vector<PaperProgram> row_programs(int most_block_warps, int sm_count);

}  // namespace sonde
