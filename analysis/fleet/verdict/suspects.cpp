// Suspects, their peers, and the second look at metrics that were measured again.
#include "analysis/fleet/verdict/reduce.hpp"

#include "analysis/fleet/value_text.hpp"
#include "analysis/statistics.hpp"
#include "base/units.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <iterator>
#include <map>
#include <set>

namespace sonde {
namespace {

// Findings that a charge against the same device needs as a reference.
constexpr std::array<std::string_view, 2> companions{"host.link_bytes_per_s", "peer.ranks"};

/// The metric of a charge of warning or worse that is based on a measurement; else nullptr. Numbers
/// of units and states of links come from the driver: measuring again does not change them.
const Metric* measured_metric(const Charge& charge, std::span<const Metric> registry) {
  const Metric* metric = find_metric(charge.base_metric(), registry);
  const bool is_measured = charge.device != Charge::no_device && charge.weighs() &&
                           metric != nullptr && charge.trouble != Trouble::pcie_link &&
                           charge.trouble != Trouble::nvlink &&
                           metric->kind != MetricKind::inventory && metric->job != "device" &&
                           !metric->name.starts_with("topology.");
  return is_measured ? metric : nullptr;
}

/// The value; of a map its median.
std::optional<double> middle_of(const Finding& finding) {
  const std::vector<double>* values = vector_of(finding);
  return values != nullptr && !values->empty() ? median(*values) : number_of(finding);
}

/// True if it can be compared.
bool is_answer(const Finding& finding, const Metric& metric) {
  return is_structure(metric.kind) ? !ballot_text(finding).empty() : middle_of(finding).has_value();
}

/// The second finding if it is an answer.
const Finding* find_again(const DeviceResult& device, const Metric& metric) {
  for (const JobResult& job : device.again) {
    const Finding* finding = find_finding(job.findings, metric.name);
    if (finding != nullptr) return is_answer(*finding, metric) ? finding : nullptr;
  }
  return nullptr;
}

/// Devices and metrics of charges of warning or worse.
using Weighty = std::set<std::pair<std::size_t, std::string_view>>;

/// @pre the charges outlive the set
Weighty weighty_charges(const FleetAnalysis& analysis) {
  Weighty all;
  for (const Charge& charge : analysis.charges) {
    if (charge.weighs()) all.insert({charge.device, charge.base_metric()});
  }
  return all;
}

std::vector<int> common_units(const Charge& one, const Charge& other) {
  std::vector<int> common;  // both are ascending
  std::ranges::set_intersection(one.unit.numbers, other.unit.numbers, std::back_inserter(common));
  return common;
}

/// Slices get new numbers in each run (docs/methods/slices.md): a slice is recognised by its
/// slowness, which differs between pages (on simulated H200s 5 to 7 % for the same slice).
bool is_same_unit(const Charge& charge, const Charge& other) {
  constexpr double least_share = 0.5;
  if (charge.unit.kind == Unit::Kind::slice) {
    const double share = other.size / charge.size;
    return other.unit.kind == charge.unit.kind && share >= least_share && share <= 1 / least_share;
  }
  return !charge.unit.is_named() || !common_units(charge, other).empty();
}

/// The same charge in the second look; a charge that names a unit must name it again.
const Charge* find_same(const Charge& charge, const FleetAnalysis& second) {
  const auto is_same = [&](const Charge& other) {
    return other.weighs() && other.device == charge.device && other.ground == charge.ground &&
           other.base_metric() == charge.base_metric() && is_same_unit(charge, other);
  };
  const auto found = std::ranges::find_if(second.charges, is_same);
  return found == second.charges.end() ? nullptr : &*found;
}

/// The second value: of an SM "SM 17: 26 cycle", of a slice that of the slice that deviated.
/// @param came_back the charge of the second look; null: there is none
std::string second_text(const Charge& charge, const Charge* came_back, const Finding& again,
                        std::string_view unit) {
  const std::vector<double>* map = vector_of(again);
  if (charge.unit.kind == Unit::Kind::slice) {
    return came_back != nullptr ? came_back->value : "none of its slices differs from the others";
  }
  if (!charge.unit.is_named() || map == nullptr) return value_text(again, unit);
  std::vector<std::string> parts;
  for (const int number : charge.unit.numbers) {
    const auto place = static_cast<std::size_t>(number);
    if (place >= map->size()) continue;
    parts.push_back(fmt::format("{}: {}",
                                to_text(Unit{.kind = charge.unit.kind, .numbers = {number}}),
                                format_quantity((*map)[place], unit)));
  }
  return fmt::format("{}", fmt::join(parts, ", "));
}

/// Metrics of charges of warning or worse whose device was measured again.
std::vector<Metric> doubted_metrics(const FleetAnalysis& analysis, const RunResult& run) {
  std::vector<Metric> doubted;
  for (const Charge& charge : analysis.charges) {
    const Metric* metric = measured_metric(charge, analysis.registry);
    if (metric == nullptr || find_metric(metric->name, doubted) != nullptr) continue;
    if (find_again(run.devices[charge.device], *metric) != nullptr) doubted.push_back(*metric);
  }
  return doubted;
}

/// Adds every device to the second run, with findings in these metrics only: second values
/// (DeviceResult::again) of suspects and of peers measured with them, else the first values.
void add_second_tries(const RunResult& run, const std::vector<Metric>& metrics, RunResult& second) {
  second.devices.resize(run.devices.size());
  for (std::size_t i = 0; i < run.devices.size(); ++i) {
    const DeviceResult& device = run.devices[i];
    DeviceResult& copy = second.devices[i];
    copy.info = device.info;
    copy.before = device.before;
    copy.after = device.after;
    copy.node = device.node;
    JobResult& job = copy.jobs.emplace_back();
    job.status = Status::ok;
    for (const Metric& metric : metrics) {
      const Finding* again = find_again(device, metric);
      const Finding* used = again != nullptr ? again : find_finding(device, metric.name);
      if (used != nullptr) job.findings.push_back(*used);
    }
    for (const std::string_view companion : companions) {
      const Finding* finding = find_finding(device, companion);
      const bool is_there = find_finding(job.findings, companion) != nullptr;
      if (finding != nullptr && !is_there) job.findings.push_back(*finding);
    }
  }
}

/// Settles the charges of the first look. A charge becomes a note if it does not come back on the
/// same unit; or, on the ground of peers, if a peer deviates only now: then conditions have
/// changed, not the device. A charge that comes back says so, and gets at most the severity of the
/// second look. Without a second answer it stays unchanged.
void settle(const RunResult& run, const FleetAnalysis& second, FleetAnalysis& analysis) {
  const Weighty at_first = weighty_charges(analysis);
  const Weighty again = weighty_charges(second);
  for (Charge& charge : analysis.charges) {
    const Metric* metric = measured_metric(charge, analysis.registry);
    const Finding* finding =
        metric == nullptr ? nullptr : find_again(run.devices[charge.device], *metric);
    if (finding == nullptr) continue;
    const Charge* came_back = find_same(charge, second);
    const std::string read = second_text(charge, came_back, *finding, metric->unit);
    // The peer was measured again, did not deviate at first, and deviates now.
    const auto is_out_now = [&](std::size_t peer) {
      return find_again(run.devices[peer], *metric) != nullptr &&
             !at_first.contains({peer, metric->name}) && again.contains({peer, metric->name});
    };
    if (came_back == nullptr) {
      charge.severity = Severity::info;
      charge.reason += fmt::format("; did not come back when measured again ({})", read);
    } else if (charge.ground == Ground::peers &&
               std::ranges::any_of(analysis.groups[group_of(analysis, charge.device)].devices,
                                   is_out_now)) {
      charge.severity = Severity::info;
      charge.reason += fmt::format(
          "; measured again {}, but then a peer measured with it deviated too: no verdict", read);
    } else {
      if (charge.unit.kind != Unit::Kind::slice) {
        charge.unit.numbers = common_units(charge, *came_back);
      }
      charge.severity = std::min(charge.severity, came_back->severity);
      charge.evidence +=
          fmt::format("{}measured again, {}", charge.evidence.empty() ? "" : "; ", read);
    }
  }
}

}  // namespace

std::vector<Suspect> find_suspects(const FleetAnalysis& analysis, const RunResult& run) {
  std::vector<Suspect> suspects;
  Weighty seen;
  for (const Charge& charge : analysis.charges) {
    const Metric* metric = measured_metric(charge, analysis.registry);
    if (metric == nullptr) continue;
    const DeviceResult& device = run.devices[charge.device];
    // The job that measured the metric: the registry may name a job that contains it.
    const auto job = std::ranges::find_if(device.jobs, [&](const JobResult& one) {
      return find_finding(one.findings, metric->name) != nullptr;
    });
    if (job == device.jobs.end() || find_again(device, *metric) != nullptr) continue;
    if (!seen.emplace(charge.device, metric->name).second) continue;
    suspects.push_back({.device = charge.device,
                        .group = group_of(analysis, charge.device),
                        .metric = std::string(metric->name),
                        .job = job->job});
  }
  return suspects;
}

std::optional<std::size_t> median_peer(const FleetAnalysis& analysis, const RunResult& run,
                                       std::size_t group, std::string_view name) {
  const Metric& metric = *find_metric(name, analysis.registry);
  const Weighty suspects = weighty_charges(analysis);
  std::map<std::size_t, double> candidates;
  std::vector<double> middles;
  for (const std::size_t device : analysis.groups[group].devices) {
    const Finding* finding = find_finding(run.devices[device], name);
    if (finding == nullptr || !is_answer(*finding, metric)) continue;
    middles.push_back(
        middle_of(*finding).value_or(0));  // texts: all candidates are equal, others are suspects
    if (!suspects.contains({device, name})) candidates[device] = middles.back();
  }
  if (candidates.empty()) return {};
  const double center = median(std::move(middles));
  const auto distance = [&](const auto& one) { return std::abs(one.second - center); };
  return std::ranges::min_element(candidates, {}, distance)->first;
}

void look_again(const RunResult& run, const ReduceOptions& options, FleetAnalysis& analysis) {
  const std::vector<Metric> doubted = doubted_metrics(analysis, run);
  if (doubted.empty()) return;
  RunResult second;
  add_second_tries(run, doubted, second);
  settle(run, reduce_fleet(second, {.registry = doubted, .references = options.references}),
         analysis);
}

}  // namespace sonde
