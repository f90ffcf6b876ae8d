// What is written device by device, as one text.
#include "analysis/report/report.hpp"

#include <sstream>

namespace sonde {
namespace {

using Writer = void (*)(std::ostream&, const RunResult&, const FleetAnalysis&, const DeviceStream&);

std::string text_of(Writer write, const RunResult& run, const FleetAnalysis& analysis) {
  std::ostringstream out;
  write(out, run, analysis, stream_devices(run));
  return out.str();
}

}  // namespace

DeviceStream stream_devices(const RunResult& run) {
  return [&run](const auto& take) {
    for (std::size_t i = 0; i < run.devices.size(); ++i) take(i, run.devices[i]);
  };
}

std::string render_json(const RunResult& run, const FleetAnalysis& analysis) {
  return text_of(write_json, run, analysis);
}

std::string render_csv(const RunResult& run, const FleetAnalysis& analysis) {
  return text_of(write_csv, run, analysis);
}

std::string render_csv_long(const RunResult& run, const FleetAnalysis& analysis) {
  return text_of(write_csv_long, run, analysis);
}

std::string render_prometheus(const RunResult& run, const FleetAnalysis& analysis) {
  return text_of(write_prometheus, run, analysis);
}

}  // namespace sonde
