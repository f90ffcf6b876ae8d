// Commands that take bad nodes out of use, ready to paste: sonde prints them and never runs them.
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

bool is_bad(Verdict verdict) { return verdict == Verdict::fail || verdict == Verdict::lost; }

/// Once for each class of fault: a sweep has a verdict on a GPU at each of its settings.
struct BadGpu {
  const DeviceResult* device;
  Trouble likely;
  Verdict verdict;  // the worst
};

std::vector<BadGpu> bad_gpus(const RunResult& run, const FleetAnalysis& analysis) {
  std::map<std::tuple<std::string_view, std::string_view, Trouble>, std::size_t> places;
  std::vector<BadGpu> all;
  for (std::size_t i = 0; i < run.devices.size(); ++i) {
    const DeviceResult& device = run.devices[i];
    const DeviceVerdict& verdict = analysis.verdicts[i];
    if (!is_bad(verdict.verdict)) continue;
    const auto [place, is_new] =
        places.try_emplace({device.node, device.info.uuid, verdict.likely}, all.size());
    if (is_new) all.push_back({&device, verdict.likely, verdict.verdict});
    Verdict& worst = all[place->second].verdict;
    worst = std::max(worst, verdict.verdict);
  }
  return all;
}

/// Sites parse drain reasons by prefix and key=value (NVSentinel's Slurm drain monitor).
std::string drain_reason(const BadGpu& bad) {
  return fmt::format("verdict={} gpu={} class={}", to_text(bad.verdict), bad.device->info.uuid,
                     to_text(bad.likely));
}

/// Why each bad node is bad, by its name.
std::map<std::string, std::vector<std::string>> bad_nodes(const RunResult& run,
                                                          const FleetAnalysis& analysis) {
  std::map<std::string, std::vector<std::string>> reasons;
  for (const BadGpu& bad : bad_gpus(run, analysis)) {
    reasons[bad.device->node].push_back(drain_reason(bad));
  }
  for (const Charge& charge : analysis.charges) {
    if (charge.device != Charge::no_device || charge.severity != Severity::fail) continue;
    reasons[charge.node].push_back(
        fmt::format("verdict=fail gpus={} usual={}", charge.value, charge.reference));
  }
  return reasons;
}

}  // namespace

std::string render_exclude(const RunResult& run, const FleetAnalysis& analysis) {
  std::string nodes;
  for (const auto& [node, reasons] : bad_nodes(run, analysis)) {
    nodes += (nodes.empty() ? "--exclude=" : ",") + node;
  }
  return nodes.empty() ? "" : quote_shell(nodes);
}

std::string render_drain(const RunResult& run, const FleetAnalysis& analysis) {
  std::string text;
  for (const auto& [node, reasons] : bad_nodes(run, analysis)) {
    text += fmt::format("scontrol update nodename={} state=drain reason={}\n", quote_shell(node),
                        quote_shell(fmt::format("sonde: {}", fmt::join(reasons, ", "))));
  }
  return text;
}

}  // namespace sonde
