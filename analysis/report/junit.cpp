// JUnit XML for CI: suite = node, case = device x job, one case for each device's verdict, and one
// for each fault of the node itself. In a sweep the name of a case has the setting.
#include "analysis/report/report.hpp"
#include "base/escape.hpp"

#include <fmt/format.h>

#include <cmath>
#include <map>

namespace sonde {
namespace {

struct Suite {
  std::string cases;
  int tests = 0;
  int failures = 0;
  int errors = 0;
  int skipped = 0;
};

/// A device, in a sweep at one setting.
struct Place {
  const DeviceResult& device;
  std::string setting;
};

void add_case(Suite& suite, const Place& place, std::string_view what, double elapsed_s,
              const std::string& outcome) {
  ++suite.tests;
  const std::string name =
      place.setting.empty() ? std::string(what) : fmt::format("{} ({})", what, place.setting);
  suite.cases +=
      fmt::format("    <testcase classname=\"{}\" name=\"{}\" time=\"{:.3f}\">{}</testcase>\n",
                  escape_markup(place.device.info.uuid), escape_markup(name),
                  std::isfinite(elapsed_s) ? elapsed_s : 0, outcome);
}

std::string outcome_xml(const char* tag, std::string_view reason) {
  return fmt::format("<{} message=\"{}\"/>", tag, escape_markup(reason));
}

void add_job(Suite& suite, const Place& place, const JobResult& job) {
  std::string outcome;
  if (job.status == Status::failed) {
    ++suite.errors;
    outcome = outcome_xml("error", job.reason);
  } else if (job.status == Status::not_run || job.status == Status::skipped) {
    ++suite.skipped;
    outcome = outcome_xml("skipped", job.reason);
  }
  add_case(suite, place, job.job, job.elapsed_s, outcome);
}

void add_verdict(Suite& suite, const Place& place, const DeviceVerdict& verdict) {
  std::string outcome;
  if (verdict.verdict == Verdict::lost || verdict.verdict == Verdict::incomplete) {
    ++suite.errors;
    outcome = outcome_xml("error", verdict.reason);
  } else if (verdict.verdict != Verdict::pass) {
    ++suite.failures;
    outcome = outcome_xml("failure", verdict.reason);
  }
  add_case(suite, place, "verdict", 0, outcome);
}

/// What a node lacks, such as a GPU that its neighbours have.
void add_node_finding(Suite& suite, const Charge& finding) {
  ++suite.tests;
  ++suite.failures;
  suite.cases +=
      fmt::format("    <testcase classname=\"{}\" name=\"{}\" time=\"0.000\">{}</testcase>\n",
                  escape_markup(finding.node), escape_markup(finding.metric),
                  outcome_xml("failure", finding.reason));
}

}  // namespace

std::string render_junit(const RunResult& run, const FleetAnalysis& analysis) {
  std::map<std::string, Suite> suites;
  for (std::size_t i = 0; i < run.devices.size(); ++i) {
    const DeviceResult& device = run.devices[i];
    Suite& suite = suites[device.node];
    const Place place{.device = device,
                      .setting = describe_setting(run.provenance, device.point_index)};
    for (const JobResult& job : device.jobs) add_job(suite, place, job);
    add_verdict(suite, place, analysis.verdicts[i]);
  }
  for (const Charge& finding : analysis.charges) {
    const bool of_node = finding.device == Charge::no_device && !finding.node.empty();
    if (of_node && finding.severity == Severity::fail) {
      add_node_finding(suites[finding.node], finding);
    }
  }
  std::string text = "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuites name=\"sonde\">\n";
  for (const auto& [node, suite] : suites) {
    text += fmt::format(
        "  <testsuite name=\"{}\" tests=\"{}\" failures=\"{}\" errors=\"{}\" skipped=\"{}\">\n",
        escape_markup(node), suite.tests, suite.failures, suite.errors, suite.skipped);
    text += suite.cases + "  </testsuite>\n";
  }
  return text + "</testsuites>\n";
}

}  // namespace sonde
