// A program of Dai et al. (DAC 2016), table 2, and how an SM of table 1 plays it.
#pragma once

#include "device/program_probe.hpp"

#include <string_view>

namespace sonde {

struct PaperProgram {
  AccessProgram program;
  int resident_blocks = 1;  // that an SM of table 1 holds at once
  BypassLevel level = BypassLevel::block;
  bool high_contention = false;  // by table 2
  bool taught = false;           // the five that the paper fits its model to
  std::string_view description;
};

}  // namespace sonde
