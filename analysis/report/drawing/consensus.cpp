// Reduces the findings of many devices to one for each metric.
#include "analysis/fleet/value_text.hpp"
#include "analysis/report/drawing/drawing.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <string>
#include <string_view>
#include <unordered_map>

namespace sonde {
namespace {

using Findings = std::vector<const Finding*>;

/// Equal for answers of the same kind: all numbers are equal, texts only if they match.
std::string answer_of(const Finding& finding) {
  if (number_of(finding)) return "a number";
  if (const auto* values = vector_of(finding)) return fmt::format("{} numbers", values->size());
  if (finding.status != Status::ok) return std::string(to_text(finding.status));
  return ballot_text(finding);
}

Finding agreed(const Findings& findings) {
  std::map<std::string, std::size_t> votes;
  for (const Finding* finding : findings) ++votes[answer_of(*finding)];
  const auto votes_of = [&](const Finding* finding) { return votes[answer_of(*finding)]; };
  const std::string winner = answer_of(**std::ranges::max_element(findings, {}, votes_of));
  Findings winners;
  for (const Finding* finding : findings) {
    if (answer_of(*finding) == winner) winners.push_back(finding);
  }
  if (!number_of(*winners.front())) return *winners.front();
  const auto middle = winners.begin() + static_cast<std::ptrdiff_t>((winners.size() - 1) / 2);
  std::ranges::nth_element(winners, middle, {},
                           [](const Finding* finding) { return *number_of(*finding); });
  return **middle;
}

}  // namespace

DeviceResult consensus_of(const RunResult& run, std::span<const std::size_t> devices) {
  std::unordered_map<std::string_view, std::size_t> places;
  std::vector<Findings> metrics;  // in the order of their first occurrence
  for (const std::size_t device : devices) {
    for (const JobResult& job : run.devices[device].jobs) {
      for (const Finding& finding : job.findings) {
        const auto [place, is_new] = places.try_emplace(finding.metric, metrics.size());
        if (is_new) metrics.emplace_back();
        metrics[place->second].push_back(&finding);
      }
    }
  }
  const DeviceResult& first = run.devices[devices.front()];
  DeviceResult consensus;
  consensus.info = first.info;
  consensus.node = first.node;
  consensus.rank = first.rank;
  JobResult& job = consensus.jobs.emplace_back();
  job.job = "consensus";
  for (const Findings& findings : metrics) job.findings.push_back(agreed(findings));
  return consensus;
}

}  // namespace sonde
