// A verdict: first a GPU that is gone, then its worst charge, then missing results.
#include "analysis/fleet/verdict/reduce.hpp"

#include "analysis/fleet/conditions.hpp"
#include "analysis/fleet/grounds/grounds.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <iterator>
#include <map>
#include <ranges>
#include <set>
#include <string_view>
#include <tuple>
#include <utility>

namespace sonde {
namespace {

std::string incomplete_reason(const DeviceResult& device) {
  if (!device.reason.empty()) return device.reason;
  std::vector<std::string> parts;
  for (const JobResult& job : device.jobs) {
    if (!is_missing(job.status)) continue;
    parts.push_back(fmt::format("{} {}{}", job.job, to_text(job.status),
                                job.reason.empty() ? "" : " (" + job.reason + ")"));
  }
  return parts.empty() ? "not all jobs ended" : fmt::format("{}", fmt::join(parts, ", "));
}

/// True if the trouble comes from error counters of the driver or a failed job, not from a value.
bool is_an_error(Trouble trouble) {
  using enum Trouble;
  return trouble <= xid || trouble == pcie_link || trouble == nvlink || trouble == ecc_corrected ||
         trouble == remap_pending;
}

/// Sets the node of each charge. Charges for values measured while another process ran become
/// notes; error counters still count.
void add_nodes(const RunResult& run, std::vector<Charge>& charges) {
  for (Charge& charge : charges) {
    if (charge.device == Charge::no_device) continue;
    const DeviceResult& device = run.devices.at(charge.device);
    charge.node = device.node;
    if (!charge.weighs() || is_an_error(charge.trouble) || !is_contended(device)) continue;
    charge.severity = Severity::info;
    charge.reason += "; another process was on this GPU: no verdict";
  }
}

/// True if the fault `shown` also worsens measurements of `effect`: slow SMs read memory slowly.
bool explains(Trouble shown, Trouble effect) {
  using enum Trouble;
  static constexpr std::pair<Trouble, Trouble> effects[] = {
      {pcie_link, host_rate}, {nvlink, peer_rate}, {slice, memory_rate}, {sm, memory_rate}};
  if (is_of_clock(shown)) return !is_an_error(effect) && effect != structure;
  return shown == effect ||
         std::ranges::find(effects, std::pair(shown, effect)) != std::end(effects);
}

/// Past or reference values may say which devices of an undecided group are wrong. So may charges
/// on the ground of the device itself: if they explain all that are worse than the best, the best
/// are cleared.
void settle_undecided(FleetAnalysis& analysis) {
  using Place = std::pair<std::size_t, std::string_view>;  // group and metric
  const auto place_of = [&](const Charge& charge) -> Place {
    return {group_of(analysis, charge.device), charge.metric};
  };
  std::set<Place> told;
  std::multimap<std::size_t, Trouble> shown;  // by device
  for (const Charge& charge : analysis.charges) {
    if (!charge.weighs()) continue;
    if (charge.ground == Ground::itself) shown.emplace(charge.device, charge.trouble);
    if (charge.ground == Ground::past || charge.ground == Ground::reference) {
      told.insert(place_of(charge));
    }
  }
  std::map<Place, bool>
      explained;  // true if all devices that are worse than the best are explained
  for (const Charge& charge : analysis.charges) {
    if (!charge.undecided || charge.best) continue;
    const auto [first, last] = shown.equal_range(charge.device);
    const bool is_so = std::any_of(
        first, last, [&](const auto& one) { return explains(one.second, charge.trouble); });
    bool& all = explained.try_emplace(place_of(charge), true).first->second;
    all = all && is_so;
  }
  for (Charge& charge : analysis.charges) {
    if (!charge.undecided || !charge.weighs()) continue;
    const auto worse = explained.find(place_of(charge));
    if (told.contains(place_of(charge))) {
      charge.reason += "; past or reference values decide";
    } else if (charge.best && worse != explained.end() && worse->second) {
      charge.reason += "; faults found on the other devices explain it";
    } else {
      continue;
    }
    charge.severity = Severity::info;
  }
}

/// The order of charges: contention, the worse severity, decided before undecided, the order of
/// causes (Trouble), charges that name a part, throughputs, the larger deviation.
auto place_among_charges(const Charge& charge) {
  const bool contended = charge.trouble == Trouble::contention && charge.weighs();
  return std::tuple(!contended, -static_cast<int>(charge.severity), charge.undecided,
                    charge.trouble, !charge.unit.is_named(),
                    !charge.metric.ends_with("bytes_per_s"),
                    std::isfinite(charge.size) ? -std::abs(charge.size) : 0);
}

/// @param verdict has the indices of the device's charges, the leading one first
void reach_verdict(const DeviceResult& device, const std::vector<Charge>& charges,
                   DeviceVerdict& verdict) {
  const std::string gone = gone_reason(device);
  if (device.status == DeviceOutcome::lost || !gone.empty()) {
    verdict.verdict = Verdict::lost;
    verdict.likely = Trouble::lost;
    verdict.reason = !gone.empty()           ? gone
                     : device.reason.empty() ? "its rank did not come back"
                                             : device.reason;
    return;
  }
  Severity worst = Severity::info;
  std::size_t weighty = 0;
  for (const std::size_t i : verdict.charges) {
    worst = std::max(worst, charges[i].severity);
    weighty += charges[i].weighs() ? 1 : 0;
  }
  if (worst != Severity::info) {
    const Charge& leading = charges[verdict.charges.front()];
    verdict.verdict = worst == Severity::fail ? Verdict::fail : Verdict::warn;
    verdict.likely = leading.trouble;
    verdict.reason = fmt::format("{}{}{}: {}", leading.cause, leading.cause.empty() ? "" : "; ",
                                 leading.metric, leading.reason);
    if (weighty > 1) verdict.reason += fmt::format("; and {} more", weighty - 1);
  }
  if (is_contended(device)) {
    verdict.verdict = Verdict::incomplete;
  } else if (device.status == DeviceOutcome::incomplete) {
    verdict.verdict = std::max(verdict.verdict, Verdict::incomplete);
  }
  if (device.status == DeviceOutcome::incomplete) {
    const std::string gap = incomplete_reason(device);
    verdict.reason = verdict.reason.empty() ? gap : verdict.reason + "; incomplete: " + gap;
  }
}

/// A job is `not_present` if one of its options needs what the GPU lacks. A device with a job that
/// is so at every setting is incomplete.
void note_refused_settings(const RunResult& run, std::vector<DeviceVerdict>& verdicts) {
  using Place = std::pair<std::string_view, std::string_view>;  // GPU and job
  const auto is_refused = [](const JobResult& job) { return job.status == Status::not_present; };
  std::set<Place> refused;
  std::set<Place> measured;
  for (const DeviceResult& device : run.devices) {
    for (const JobResult& job : device.jobs)
      (is_refused(job) ? refused : measured).insert({device.info.uuid, job.job});
  }
  for (std::size_t i = 0; i < run.devices.size() && !refused.empty(); ++i) {
    for (const JobResult& job : run.devices[i].jobs) {
      if (!is_refused(job) || measured.contains({run.devices[i].info.uuid, job.job})) continue;
      verdicts[i].verdict = std::max(verdicts[i].verdict, Verdict::incomplete);
      if (verdicts[i].reason.empty())
        verdicts[i].reason = fmt::format("{}: {}", job.job, job.reason);
    }
  }
}

/// True if the device was measured by more than the driver's inventory, and to the end.
bool is_audited(const DeviceResult& device, const DeviceVerdict& verdict) {
  const bool measured = std::ranges::any_of(device.jobs, [](const JobResult& job) {
    return job.status == Status::ok && job.job != "device";
  });
  const bool stuck = verdict.likely == Trouble::hang || verdict.likely == Trouble::sticky_error;
  return measured && !stuck && verdict.verdict != Verdict::lost && !is_contended(device);
}

std::size_t count_missing(const DeviceResult& device) {
  const auto count = [](const auto& all, auto status) {
    return static_cast<std::size_t>(std::ranges::count_if(all, is_missing, status));
  };
  std::size_t missing = count(device.jobs, &JobResult::status);
  for (const JobResult& job : device.jobs) missing += count(job.findings, &Finding::status);
  return missing;
}

/// Counts each device once, by its worst verdict over the settings of a sweep.
FleetCounts count_devices(const RunResult& run, const std::vector<DeviceVerdict>& verdicts) {
  std::map<std::string, Verdict> worst;
  std::set<std::string_view> audited;
  for (std::size_t i = 0; i < verdicts.size(); ++i) {
    if (is_audited(run.devices[i], verdicts[i])) audited.insert(run.devices[i].info.uuid);
    Verdict& verdict = worst.try_emplace(run.devices[i].info.uuid, Verdict::pass).first->second;
    verdict = std::max(verdict, verdicts[i].verdict);
  }
  FleetCounts counts;
  counts.seen = worst.size() + run.unaudited.size();
  counts.expected = std::max(counts.seen, usual_device_count(run));
  const auto count = [&](Verdict wanted) {
    return static_cast<std::size_t>(std::ranges::count(worst | std::views::values, wanted));
  };
  counts.passed = count(Verdict::pass);
  counts.warned = count(Verdict::warn);
  counts.incomplete = count(Verdict::incomplete);
  counts.failed = count(Verdict::fail);
  counts.lost = count(Verdict::lost);
  counts.audited = audited.size();
  counts.flagged = counts.warned + counts.failed;
  for (const DeviceResult& device : run.devices) counts.missing += count_missing(device);
  return counts;
}

/// Relative change of the device's clock since the baseline if it became slower; else 0.
double clock_change(const RunComparison& comparison, std::size_t device) {
  for (const Change& change : comparison.changes) {
    const Charge& charge = change.charge;
    const bool of_clock = charge.metric.starts_with("clock.") && charge.metric.ends_with("_hz");
    if (charge.device == device && of_clock && charge.size < 0) return charge.size;
  }
  return 0;
}

}  // namespace

std::size_t group_of(const FleetAnalysis& analysis, std::size_t device) {
  const auto has = [&](const ComparisonGroup& group) {
    return std::ranges::binary_search(group.devices, device);
  };
  return static_cast<std::size_t>(std::ranges::find_if(analysis.groups, has) -
                                  analysis.groups.begin());
}

void decide(const RunResult& run, FleetAnalysis& analysis) {
  add_nodes(run, analysis.charges);
  settle_undecided(analysis);
  std::ranges::stable_sort(analysis.charges, {}, place_among_charges);
  analysis.verdicts.assign(run.devices.size(), {});
  for (std::size_t i = 0; i < analysis.charges.size(); ++i) {
    const std::size_t device = analysis.charges[i].device;
    if (device != Charge::no_device) analysis.verdicts[device].charges.push_back(i);
  }
  for (std::size_t device = 0; device < run.devices.size(); ++device) {
    reach_verdict(run.devices[device], analysis.charges, analysis.verdicts[device]);
  }
  note_refused_settings(run, analysis.verdicts);
  analysis.counts = count_devices(run, analysis.verdicts);
}

void judge_by_baseline(const RunResult& run, const RunComparison& comparison,
                       FleetAnalysis& analysis) {
  for (const Change& change : comparison.changes) {
    Charge charge = change.charge;
    if (!charge.weighs()) continue;
    charge.cause = fmt::format("changed since the baseline: {}", charge.metric);
    charge.trouble = Trouble::structure;
    if (std::isfinite(charge.size)) {
      charge.trouble = likely_trouble(charge, summarize_conditions(run.devices.at(charge.device)),
                                      clock_change(comparison, charge.device));
      charge.cause += " " + signed_percent_text(charge.size);
    }
    charge.reason = fmt::format("{} where the baseline has {}: {}", charge.value, charge.reference,
                                charge.reason);
    charge.evidence = "the same GPU in an earlier run";
    analysis.charges.push_back(std::move(charge));
  }
  decide(run, analysis);
}

}  // namespace sonde
