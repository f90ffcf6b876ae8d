// Commands that take bad nodes out of use, ready to paste: sonde prints them and never runs them.
#include "analysis/report/content.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <map>
#include <set>

namespace sonde {
namespace {

bool is_bad(Verdict verdict) { return verdict == Verdict::fail || verdict == Verdict::lost; }

/// Sites parse drain reasons by prefix and key=value (NVSentinel's Slurm drain monitor).
std::string drain_reason(const DeviceResult& device, const DeviceVerdict& verdict) {
  return fmt::format("verdict={} gpu={} class={}", to_text(verdict.verdict), device.info.uuid,
                     to_text(verdict.likely));
}

}  // namespace

std::string render_exclude(const RunResult& run, const FleetAnalysis& analysis) {
  std::set<std::string> nodes;
  for (std::size_t i = 0; i < run.devices.size(); ++i) {
    if (is_bad(analysis.verdicts[i].verdict)) nodes.insert(run.devices[i].node);
  }
  for (const FleetFinding& finding : analysis.findings) {
    if (finding.device == FleetFinding::no_device && finding.severity == Severity::fail) {
      nodes.insert(finding.node);
    }
  }
  return nodes.empty() ? "" : fmt::format("--exclude={}", fmt::join(nodes, ","));
}

std::string render_drain(const RunResult& run, const FleetAnalysis& analysis) {
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
  std::string text;
  for (const auto& [node, all] : reasons) {
    text += fmt::format("scontrol update nodename={} state=drain reason=\"sonde: {}\"\n", node,
                        fmt::join(all, ", "));
  }
  return text;
}

}  // namespace sonde
