// Commands that take bad nodes out of use, ready to paste: sonde prints them and never runs them.
#include "analysis/report/report.hpp"
#include "base/escape.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <map>
#include <string>
#include <vector>

namespace sonde {
namespace {

bool is_bad(Verdict verdict) { return verdict == Verdict::fail || verdict == Verdict::lost; }

/// Sites parse drain reasons by prefix and key=value (NVSentinel's Slurm drain monitor).
std::string drain_reason(const DeviceResult& device, const DeviceVerdict& verdict) {
  return fmt::format("verdict={} gpu={} class={}", to_text(verdict.verdict), device.info.uuid,
                     to_text(verdict.likely));
}

/// Why each bad node is bad, by its name.
std::map<std::string, std::vector<std::string>> bad_nodes(const RunResult& run,
                                                          const FleetAnalysis& analysis) {
  std::map<std::string, std::vector<std::string>> reasons;
  for (std::size_t i = 0; i < run.devices.size(); ++i) {
    if (!is_bad(analysis.verdicts[i].verdict)) continue;
    reasons[run.devices[i].node].push_back(drain_reason(run.devices[i], analysis.verdicts[i]));
  }
  for (const FleetFinding& finding : analysis.findings) {
    if (finding.device != FleetFinding::no_device || finding.severity != Severity::fail) continue;
    reasons[finding.node].push_back(
        fmt::format("verdict=fail gpus={} usual={}", finding.value, finding.reference));
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
