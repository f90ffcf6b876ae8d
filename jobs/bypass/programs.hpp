// The sixteen programs of Dai et al. (DAC 2016), table 2, as accesses.
#pragma once

#include "jobs/bypass/paper_program.hpp"

#include <vector>

namespace sonde {

/// In the order of table 2.
std::vector<PaperProgram> paper_programs();

/// 128-byte lines of an access, mean over sampled warps.
double lines_per_access(const AccessProgram& program);

}  // namespace sonde
