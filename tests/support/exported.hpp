// The text that `sonde export` prints, for the tests of its formats.
#pragma once

#include "analysis/report/report.hpp"

#include <sstream>

namespace sonde {

inline std::string text_of(ExportWriter write, const RunResult& run,
                           const FleetAnalysis& analysis) {
  std::ostringstream out;
  write(out, run, analysis);
  return out.str();
}

}  // namespace sonde
