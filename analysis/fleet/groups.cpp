// Groups devices by a label of what must be equal.
#include "analysis/fleet/groups.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace sonde {
namespace {

std::string group_label(const DeviceInfo& info) {
  const std::string driver = info.driver_version.substr(0, info.driver_version.find('.'));
  return fmt::format("{}, {:.0f} GiB, ECC {}{}{}", info.name,
                     static_cast<double>(info.memory_bytes) / (1ULL << 30), info.ecc ? "on" : "off",
                     info.mig ? ", MIG" : "", driver.empty() ? "" : ", driver " + driver);
}

}  // namespace

std::vector<ComparisonGroup> comparison_groups(const RunResult& run) {
  std::vector<ComparisonGroup> groups;
  for (std::size_t device = 0; device < run.devices.size(); ++device) {
    if (run.devices[device].info.name.empty()) continue;
    const std::string label = group_label(run.devices[device].info);
    auto group = std::find_if(groups.begin(), groups.end(),
                              [&](const ComparisonGroup& other) { return other.label == label; });
    if (group == groups.end()) group = groups.insert(groups.end(), {.label = label, .devices = {}});
    group->devices.push_back(device);
  }
  return groups;
}

}  // namespace sonde
