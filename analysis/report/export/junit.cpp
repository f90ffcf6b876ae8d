// JUnit XML for CI: suite = node, case = device x job, one more case for each device's verdict and
// for each fault of the node. In a sweep a case name includes the setting.
#include "analysis/report/report.hpp"
#include "base/escape.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <ostream>
#include <vector>

namespace sonde {
namespace {

struct Case {
  std::string class_name;
  std::string name;
  double elapsed_s = 0;
  std::string outcome;  // "failure", "error", "skipped"; "" if passed
  std::string reason;
};

std::string outcome_of(Status status) {
  if (status == Status::failed) return "error";
  return status == Status::not_run || status == Status::skipped ? "skipped" : "";
}

std::string outcome_of(Verdict verdict) {
  if (verdict == Verdict::lost || verdict == Verdict::incomplete) return "error";
  return verdict == Verdict::pass ? "" : "failure";
}

/// Cases by node.
std::map<std::string, std::vector<Case>> collect_cases(const RunResult& run,
                                                       const FleetAnalysis& analysis) {
  std::map<std::string, std::vector<Case>> cases;
  for (std::size_t i = 0; i < run.devices.size(); ++i) {
    const DeviceResult& device = run.devices[i];
    const DeviceVerdict& verdict = analysis.verdicts[i];
    const std::string setting = describe_setting(run.provenance, device.point_index);
    const std::string suffix = setting.empty() ? "" : fmt::format(" ({})", setting);
    std::vector<Case>& of_node = cases[device.node];
    for (const JobResult& job : device.jobs) {
      of_node.push_back({device.info.uuid, job.job + suffix,
                         std::isfinite(job.elapsed_s) ? job.elapsed_s : 0, outcome_of(job.status),
                         job.reason});
    }
    of_node.push_back(
        {device.info.uuid, "verdict" + suffix, 0, outcome_of(verdict.verdict), verdict.reason});
  }
  for (const Charge& charge : analysis.charges) {  // such as a missing GPU
    const bool of_node = charge.device == Charge::no_device && !charge.node.empty();
    if (!of_node || charge.severity != Severity::fail) continue;
    cases[charge.node].push_back({charge.node, charge.metric, 0, "failure", charge.reason});
  }
  return cases;
}

std::string case_xml(const Case& one) {
  const std::string outcome = one.outcome.empty() ? ""
                                                  : fmt::format("<{} message=\"{}\"/>", one.outcome,
                                                                escape_markup(one.reason));
  return fmt::format("    <testcase classname=\"{}\" name=\"{}\" time=\"{:.3f}\">{}</testcase>\n",
                     escape_markup(one.class_name), escape_markup(one.name), one.elapsed_s,
                     outcome);
}

}  // namespace

void write_junit(std::ostream& out, const RunResult& run, const FleetAnalysis& analysis) {
  out << "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuites name=\"sonde\">\n";
  for (const auto& [node, cases] : collect_cases(run, analysis)) {
    const auto count = [&](const char* outcome) {
      return std::ranges::count(cases, outcome, &Case::outcome);
    };
    out << fmt::format(
        "  <testsuite name=\"{}\" tests=\"{}\" failures=\"{}\" errors=\"{}\" skipped=\"{}\">\n",
        escape_markup(node), cases.size(), count("failure"), count("error"), count("skipped"));
    for (const Case& one : cases) out << case_xml(one);
    out << "  </testsuite>\n";
  }
  out << "</testsuites>\n";
}

}  // namespace sonde
