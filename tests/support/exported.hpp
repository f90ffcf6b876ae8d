// What a format of `sonde export` writes of a run that is in memory.
#pragma once

#include "analysis/report/report.hpp"

#include <sstream>

namespace sonde {

inline std::string text_of(ExportWriter write, const RunResult& run,
                           const FleetAnalysis& analysis) {
  std::ostringstream out;
  write(out, run, analysis, [&run](const auto& take) {
    for (std::size_t i = 0; i < run.devices.size(); ++i) take(i, run.devices[i]);
  });
  return out.str();
}

}  // namespace sonde
