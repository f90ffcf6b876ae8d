// Functions that several charts use.
#include "analysis/report/charts/charts.hpp"

#include "analysis/report/content.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <vector>

namespace sonde {

std::string chart_label(const RunResult& run, const DeviceResult& device) {
  return fmt::format("{} on {}", device.info.uuid.substr(0, 12), place_of(run, device));
}

Json shown_number(double value) {
  return std::isfinite(value) ? Json(std::stod(fmt::format("{:.6g}", value))) : Json();
}

std::vector<std::size_t> drawn_devices(const RunResult& run, const FleetAnalysis& analysis,
                                       std::size_t most_devices) {
  std::vector<std::size_t> drawn;
  const auto add = [&](std::size_t device) {
    const bool is_new = std::ranges::find(drawn, device) == drawn.end();
    if (is_new && drawn.size() < most_devices) drawn.push_back(device);
  };
  for (const Charge& charge : analysis.charges) {
    const bool names_sm = charge.unit.kind == Unit::Kind::sm && charge.unit.is_named();
    if (charge.device != Charge::no_device && names_sm) add(charge.device);
  }
  for (std::size_t i = 0; i < run.devices.size(); ++i) {
    if (is_flagged(analysis.verdicts[i])) add(i);
  }
  for (const ComparisonGroup& group : analysis.groups) add(group.devices.front());
  for (std::size_t i = 0; i < run.devices.size() && drawn.size() < most_devices; ++i) add(i);
  return drawn;
}

bool is_flagged(const DeviceVerdict& verdict) {
  return verdict.verdict == Verdict::warn || verdict.verdict == Verdict::fail;
}

}  // namespace sonde
