// From charges and verdicts to the problems of a report: what, where, how sure, and what to do.
#include "analysis/fleet/conditions.hpp"
#include "analysis/fleet/remedies.hpp"
#include "analysis/fleet/value_text.hpp"
#include "analysis/report/content.hpp"
#include "analysis/report/report.hpp"
#include "base/escape.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <cctype>
#include <cmath>
#include <map>
#include <set>
#include <tuple>
#include <utility>

namespace sonde {
namespace {

constexpr std::size_t most_also = 4;
constexpr std::size_t most_settings = 8;

std::string identity_text(const DeviceResult& device) {
  const DeviceInfo& info = device.info;
  std::string text = fmt::format("{}  {}", place_of(device), info.uuid);
  if (!info.name.empty()) text += "  " + info.name;
  if (!info.pci_bus_id.empty()) text += "  PCI " + info.pci_bus_id;
  if (!info.serial.empty()) text += "  serial " + info.serial;
  return text;
}

/// Charges of warning or worse, worst first.
std::vector<const Charge*> weighty_charges(const FleetAnalysis& analysis,
                                           const DeviceVerdict& verdict) {
  std::vector<const Charge*> weighty;
  for (const std::size_t i : verdict.charges) {
    if (analysis.charges[i].weighs()) weighty.push_back(&analysis.charges[i]);
  }
  return weighty;
}

/// The metric; for a map with the units.
std::string name_of(const Charge& charge) {
  return charge.unit.is_named() ? fmt::format("{} {}", charge.metric, to_text(charge.unit))
                                : charge.metric;
}

std::string short_charge(const Charge& charge) {
  if (charge.unit.is_named()) return name_of(charge);
  return std::isfinite(charge.size)
             ? fmt::format("{} {}", charge.metric, signed_percent_text(charge.size))
             : fmt::format("{} {}", charge.metric, charge.value);
}

/// A command on another node; "--" since a name from a file may look like an option.
std::string on_node(const std::string& node, std::string_view command) {
  return fmt::format("ssh {}{} {}", node.starts_with('-') ? "-- " : "", quote_shell(node), command);
}

/// A device of the same group and node that passed; nullptr if there is none.
const DeviceResult* passing_peer(const RunResult& run, const FleetAnalysis& analysis,
                                 std::size_t index) {
  const std::size_t group = group_of(analysis, index);
  if (group == analysis.groups.size()) return nullptr;
  const auto& devices = analysis.groups[group].devices;
  const auto peer = std::ranges::find_if(devices, [&](std::size_t other) {
    return other != index && run.devices[other].node == run.devices[index].node &&
           analysis.verdicts[other].verdict == Verdict::pass;
  });
  return peer == devices.end() ? nullptr : &run.devices[*peer];
}

/// The options of the measurement that differ from the defaults, without the jobs: " --suite quick
/// --set latency.carveout_bytes=8192".
/// @param jobs gets the jobs with options: a run refuses options of jobs that it does not measure
std::string options_of(const Provenance& provenance, const DeviceResult& device,
                       std::set<std::string>& jobs) {
  const std::vector<Point> points = points_of(provenance);
  const bool of_point = device.point_index < points.size();
  const auto options = nlohmann::json::parse(
      of_point ? points[device.point_index].config_json : provenance.config_json, nullptr, false);
  if (!options.is_object()) return "";
  const auto texts_of = [&options](const char* name) {
    std::vector<std::string> texts;
    const nlohmann::json items = options.value(name, nlohmann::json());
    for (const nlohmann::json& item : items) {
      if (item.is_string()) texts.push_back(item.get<std::string>());
    }
    return texts;
  };
  std::string text;
  for (const std::string& suite : texts_of("suite")) {
    if (suite != "standard") text += " --suite " + quote_shell(suite);
  }
  const nlohmann::json percent = options.value("memory_percent", nlohmann::json());
  if (percent.is_number() && percent != 100) text += " --memory-percent " + percent.dump();
  const std::vector<std::string> sms = texts_of("sms");
  if (!sms.empty()) text += " --sms " + quote_shell(fmt::format("{}", fmt::join(sms, ",")));
  for (const std::string& setting : texts_of("set")) {
    text += " --set " + quote_shell(setting);
    const std::size_t dot = setting.rfind('.', setting.find('='));
    if (dot != std::string::npos) jobs.insert(setting.substr(0, dot));
  }
  return text;
}

/// The command that measures this GPU again, together with a peer of its node if there is one:
/// without a peer its values could not be compared.
std::string measure_again(const RunResult& run, const FleetAnalysis& analysis, std::size_t index) {
  const DeviceResult& device = run.devices[index];
  std::set<std::string> jobs;
  for (const Charge* charge : weighty_charges(analysis, analysis.verdicts[index])) {
    for (const Metric& known : analysis.registry) {
      if (charge->metric.starts_with(known.name)) jobs.insert(std::string(known.job));
    }
  }
  if (jobs.empty()) return "";
  const DeviceResult* peer = passing_peer(run, analysis, index);
  std::string gpus = quote_shell(device.info.uuid);
  if (peer != nullptr) gpus += "," + quote_shell(peer->info.uuid);
  const std::string options = options_of(run.provenance, device, jobs);
  const std::string sonde = fmt::format("sonde run{} --jobs {} -o again.h5", options,
                                        quote_shell(fmt::format("{}", fmt::join(jobs, ","))));
  const std::string command =
      run.provenance.slurm_job_id.empty()
          ? fmt::format("CUDA_VISIBLE_DEVICES={} {}{}", gpus, peer != nullptr ? "mpirun -n 2 " : "",
                        sonde)
          : fmt::format(
                "srun -w {} -N 1 -n {} --exclusive --mpi=pmix env CUDA_VISIBLE_DEVICES={} {}",
                quote_shell(device.node), peer != nullptr ? 2 : 1, gpus, sonde);
  return fmt::format("measure {} on {} again: {}", peer != nullptr ? "it and a peer" : "it",
                     device.node, command);
}

void add_line(Problem& problem, std::string_view label, std::string text) {
  if (!text.empty()) problem.lines.push_back({.label = label, .text = std::move(text)});
}

void add_worst(Problem& problem, const Charge& charge, Trouble likely) {
  add_line(problem, "what", charge.cause);
  add_line(problem, charge.cause.empty() ? "what" : "shown",
           fmt::format("{}: {}", charge.metric, charge.reason));
  if (likely != Trouble::unknown) add_line(problem, "likely", std::string(to_text(likely)));
}

/// The other charges, each name once, although a metric may differ from peers and from a baseline.
/// A trouble or a part (SM 3, slice 5) that was not named yet comes before further metrics of those
/// that were: a second fault must not hide behind many charges for the first.
std::vector<std::string> name_others(const std::vector<const Charge*>& weighty) {
  const auto fault_of = [](const Charge& charge) {
    return std::pair(charge.trouble, to_text(charge.unit));
  };
  std::set<std::string> named{name_of(*weighty.front())};
  std::set faults{fault_of(*weighty.front())};
  std::vector<std::string> others;
  std::vector<std::string> further;
  for (const Charge* charge : weighty) {
    if (!named.insert(name_of(*charge)).second) continue;
    const bool is_new = faults.insert(fault_of(*charge)).second;
    (is_new ? others : further).push_back(short_charge(*charge));
  }
  const std::size_t room = most_also - std::min(most_also, others.size());
  const std::size_t shown = std::min(room, further.size());
  others.insert(others.end(), further.begin(), further.begin() + static_cast<long>(shown));
  if (further.size() > shown) others.push_back(fmt::format("and {} more", further.size() - shown));
  return others;
}

Problem device_problem(const RunResult& run, const FleetAnalysis& analysis, std::size_t index) {
  const DeviceResult& device = run.devices[index];
  const DeviceVerdict& verdict = analysis.verdicts[index];
  Problem problem;
  for (const char letter : to_text(verdict.verdict)) {
    problem.badge += static_cast<char>(std::toupper(letter));
  }
  problem.where = identity_text(device);
  const std::string setting = describe_setting(run.provenance, device.point_index);
  if (!setting.empty()) problem.where += "  " + setting;
  problem.device = index;
  const std::vector<const Charge*> weighty = weighty_charges(analysis, verdict);
  if (weighty.empty() || verdict.verdict == Verdict::lost) {
    add_line(problem, "what", verdict.reason);
    if (verdict.verdict == Verdict::lost) {
      problem.actions = remedies(Trouble::lost, device.info.uuid);
      problem.actions.insert(problem.actions.begin(), on_node(device.node, "dmesg | grep -i xid"));
    }
    const bool was_refused = verdict.verdict == Verdict::incomplete &&
                             device.status == DeviceOutcome::complete && !is_contended(device);
    problem.actions.push_back(was_refused
                                  ? "choose values that this GPU has"
                                  : "run again with --resume: only what is missing is measured");
    return problem;
  }
  problem.metric = weighty.front()->metric;
  add_worst(problem, *weighty.front(), verdict.likely);
  add_line(problem, "ground", std::string(to_text(weighty.front()->ground)));
  add_line(problem, "certainty", weighty.front()->evidence);
  std::vector<std::string> also = name_others(weighty);
  if (device.status == DeviceOutcome::incomplete) also.push_back("some of its jobs were not done");
  add_line(problem, "also", fmt::format("{}", fmt::join(also, "; ")));
  problem.actions = remedies(verdict.likely, device.info.uuid);
  const std::string again = measure_again(run, analysis, index);
  if (!again.empty()) problem.actions.insert(problem.actions.begin(), again);
  return problem;
}

/// If a group consists of parts, all its devices are one problem; a pair is two problems.
bool is_of_group(const Charge& charge) { return charge.undecided && charge.n > 2; }

/// Groups of devices with this verdict. In a sweep a GPU is a device at each setting: settings with
/// the same problem, or with a low clock for any reason, are together, the worst first.
std::vector<std::vector<std::size_t>> alike_devices(const RunResult& run,
                                                    const FleetAnalysis& analysis, Verdict wanted) {
  using Kind = std::tuple<std::string_view, DeviceOutcome, Trouble, std::string_view>;
  std::map<Kind, std::size_t> places;  // by UUID, outcome, likely trouble and leading metric
  std::vector<std::vector<std::size_t>> all;
  std::set<std::pair<std::string_view, Trouble>> failing;  // GPUs and their troubles
  for (std::size_t i = 0; i < run.devices.size(); ++i) {
    const DeviceVerdict& verdict = analysis.verdicts[i];
    if (verdict.verdict == Verdict::fail && is_of_clock(verdict.likely))
      failing.insert({run.devices[i].info.uuid, verdict.likely});
  }
  for (std::size_t i = 0; i < run.devices.size(); ++i) {
    const DeviceVerdict& verdict = analysis.verdicts[i];
    const bool is_of_failure = verdict.verdict == Verdict::warn &&
                               failing.contains({run.devices[i].info.uuid, verdict.likely});
    if ((is_of_failure ? Verdict::fail : verdict.verdict) != wanted) continue;
    const auto weighty = weighty_charges(analysis, verdict);
    const bool has_metric = wanted != Verdict::lost && !weighty.empty();
    const bool of_group = has_metric && is_of_group(*weighty.front());
    std::string_view shown = has_metric ? weighty.front()->metric : verdict.reason;
    if (has_metric && is_of_clock(verdict.likely) && !of_group) shown = "";
    const std::string_view uuid = of_group ? std::string_view() : run.devices[i].info.uuid;
    const auto [place, is_new] =
        places.try_emplace({uuid, run.devices[i].status, verdict.likely, shown}, all.size());
    if (is_new || (run.provenance.axes.empty() && !of_group)) {
      all.push_back({i});
    } else {
      all[place->second].push_back(i);
    }
  }
  const auto leading_charge = [&](std::size_t device) {
    const std::vector<std::size_t>& findings = analysis.verdicts[device].charges;
    return findings.empty() ? analysis.charges.size() : findings.front();
  };
  for (std::vector<std::size_t>& devices : all) {
    std::ranges::stable_sort(devices, {}, leading_charge);
  }
  return all;
}

/// @param devices the problem describes the first one in full, and the settings of the others
Problem swept_problem(const RunResult& run, const FleetAnalysis& analysis,
                      const std::vector<std::size_t>& devices) {
  Problem problem = device_problem(run, analysis, devices.front());
  const std::vector<std::size_t>& charges = analysis.verdicts[devices.front()].charges;
  if (devices.size() > 1 && !charges.empty() && is_of_group(analysis.charges[charges.front()])) {
    problem.where = fmt::format("{} GPUs: {}", devices.size(), name_devices(run, devices));
    problem.actions = {"compare with an earlier run (--baseline) or with other GPUs of this model"};
    return problem;
  }
  std::vector<std::string> settings;
  for (std::size_t i = 1; i < std::min(devices.size(), most_settings); ++i) {
    settings.push_back(describe_setting(run.provenance, run.devices[devices[i]].point_index));
  }
  if (settings.empty()) return problem;
  const std::size_t more = devices.size() - 1 - settings.size();
  add_line(problem, "also",
           fmt::format("likewise with {}{}", fmt::join(settings, "; "),
                       more > 0 ? fmt::format("; and {} settings more", more) : ""));
  return problem;
}

Problem common_problem(const Charge& charge) {
  Problem problem;
  problem.badge = charge.severity == Severity::fail ? "FAIL" : "WARN";
  problem.where = charge.node.empty() ? "the whole group" : charge.node;
  add_worst(problem, charge, charge.trouble);
  if (!charge.node.empty()) {
    problem.actions = {on_node(charge.node, "'nvidia-smi -L; dmesg | grep -i -e xid -e fallen'")};
  }
  return problem;
}

}  // namespace

std::vector<Problem> problems(const RunResult& run, const FleetAnalysis& analysis) {
  std::vector<Problem> all;
  const auto add_devices = [&](Verdict wanted) {
    for (const auto& devices : alike_devices(run, analysis, wanted)) {
      all.push_back(swept_problem(run, analysis, devices));
    }
  };
  const auto add_common = [&](Severity wanted) {
    for (const Charge& charge : analysis.charges) {
      if (charge.device != Charge::no_device || charge.severity != wanted) continue;
      all.push_back(common_problem(charge));
    }
  };
  add_devices(Verdict::fail);
  add_devices(Verdict::lost);
  add_common(Severity::fail);
  add_devices(Verdict::incomplete);
  add_devices(Verdict::warn);
  add_common(Severity::warn);
  for (const UnauditedDevice& device : run.unaudited) {
    all.push_back(
        {.badge = "WARN",
         .where = fmt::format("{}  {}", device.node, device.uuid),
         .lines = {{"what", "detected but not measured: there were fewer ranks than GPUs"}},
         .actions = {"start one rank per GPU"}});
  }
  return all;
}

std::vector<std::string> notes(const RunResult& run, const FleetAnalysis& analysis) {
  std::vector<std::string> all;
  for (const Charge& charge : analysis.charges) {
    if (charge.severity != Severity::info) continue;
    const std::string where = charge.device == Charge::no_device
                                  ? charge.node
                                  : place_of(run, run.devices[charge.device]);
    all.push_back(
        fmt::format("{}{}{}: {}", where, where.empty() ? "" : "  ", charge.metric, charge.reason));
  }
  return all;
}

}  // namespace sonde
