// Commands that take bad nodes out of use, ready to paste. sonde only prints them.
#include "analysis/report/report.hpp"
#include "base/escape.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <map>
#include <string>
#include <string_view>
#include <tuple>
#include <vector>

namespace sonde {
namespace {

/// One entry for each class of fault: in a sweep a GPU has a verdict at each setting.
struct BadGpu {
  const DeviceResult* device;
  Trouble likely;
  Verdict verdict;  // the worst over the settings
};

std::vector<BadGpu> bad_gpus(const RunResult& run, const FleetAnalysis& analysis) {
  std::map<std::tuple<std::string_view, std::string_view, Trouble>, std::size_t> places;
  std::vector<BadGpu> all;
  for (std::size_t i = 0; i < run.devices.size(); ++i) {
    const DeviceResult& device = run.devices[i];
    const DeviceVerdict& verdict = analysis.verdicts[i];
    if (verdict.verdict != Verdict::fail && verdict.verdict != Verdict::lost) continue;
    const auto [place, is_new] =
        places.try_emplace({device.node, device.info.uuid, verdict.likely}, all.size());
    if (is_new) all.push_back({&device, verdict.likely, verdict.verdict});
    Verdict& worst = all[place->second].verdict;
    worst = std::max(worst, verdict.verdict);
  }
  return all;
}

/// Reasons for each bad node. Sites parse prefix and key=value (NVSentinel's Slurm drain monitor).
std::map<std::string, std::vector<std::string>> bad_nodes(const RunResult& run,
                                                          const FleetAnalysis& analysis) {
  std::map<std::string, std::vector<std::string>> reasons;
  for (const BadGpu& bad : bad_gpus(run, analysis)) {
    reasons[bad.device->node].push_back(fmt::format("verdict={} gpu={} class={}",
                                                    to_text(bad.verdict), bad.device->info.uuid,
                                                    to_text(bad.likely)));
  }
  for (const Charge& charge : analysis.charges) {
    if (charge.device != Charge::no_device || charge.severity != Severity::fail) continue;
    reasons[charge.node].push_back(
        fmt::format("verdict=fail gpus={} usual={}", charge.value, charge.reference));
  }
  return reasons;
}

}  // namespace

std::vector<std::string> commands_to_paste(const RunResult& run, const FleetAnalysis& analysis) {
  std::string nodes;
  std::vector<std::string> commands;
  for (const auto& [node, reasons] : bad_nodes(run, analysis)) {
    nodes += (nodes.empty() ? "--exclude=" : ",") + node;
    commands.push_back(
        fmt::format("scontrol update nodename={} state=drain reason={}", quote_shell(node),
                    quote_shell(fmt::format("sonde: {}", fmt::join(reasons, ", ")))));
  }
  if (!nodes.empty()) commands.insert(commands.begin(), quote_shell(nodes));
  return commands;
}

}  // namespace sonde
