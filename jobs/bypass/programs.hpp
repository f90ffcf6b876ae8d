// The sixteen programs of Dai et al. (DAC 2016), table 2, as accesses.
#pragma once

#include "device/program_probe.hpp"

#include <string_view>
#include <vector>

namespace sonde {

struct PaperProgram {
  AccessProgram program;
  int resident_blocks = 1;  // that an SM of table 1 holds at once
  BypassLevel level = BypassLevel::block;
  bool high_contention = false;  // by table 2
  bool taught = false;           // the five that the paper fits its model to
  std::string_view description;
};

/// In the order of table 2.
std::vector<PaperProgram> paper_programs();

/// 128-byte lines of an access, mean over sampled warps.
double lines_per_access(const AccessProgram& program);

}  // namespace sonde
