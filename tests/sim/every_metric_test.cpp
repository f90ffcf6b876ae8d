// Every job of a suite, as the program runs it, says something about every metric of its registry
// entry, once, and forgets none. Whole suites of the largest models are too slow for a test of
// every build: all models run the quick suite, the faster ones the standard suite, too.
#include "analysis/metrics.hpp"
#include "device/backends/open_device.hpp"
#include "jobs/suite.hpp"
#include "sim/shipped_json.hpp"

#include <gtest/gtest.h>

#include <cstdlib>
#include <set>
#include <vector>

namespace sonde::test {
namespace {

using SuiteOnModel = std::tuple<const char*, SuiteLevel>;

class EveryMetricTest : public testing::TestWithParam<SuiteOnModel> {};

std::set<std::string> metrics_of(std::string_view job) {
  std::set<std::string> names;
  for (const Metric& metric : all_metrics()) {
    if (metric.job == job) names.emplace(metric.name);
  }
  return names;
}

void expect_every_metric_once(const JobResult& result, SuiteLevel suite) {
  EXPECT_EQ(result.status, Status::ok) << result.job << ": " << result.reason;
  std::set<std::string> reported;
  for (const Finding& finding : result.findings) {
    EXPECT_TRUE(reported.insert(finding.metric).second) << finding.metric << " is there twice";
    EXPECT_NE(finding.status, Status::failed) << finding.metric << ": " << finding.reason;
    if (finding.status != Status::ok) {
      EXPECT_NE(finding.reason, "") << finding.metric;
    }
    if (finding.reason.find("the full suite has it") != std::string::npos) {
      EXPECT_EQ(finding.status, Status::skipped) << finding.metric;
    } else if (suite != SuiteLevel::quick) {
      EXPECT_NE(finding.status, Status::skipped) << finding.metric;
    } else if (finding.reason.find("quick suite") != std::string::npos) {
      EXPECT_EQ(finding.status, Status::skipped) << finding.metric;
    }
  }
  EXPECT_EQ(reported, metrics_of(result.job));
}

TEST_P(EveryMetricTest, is_reported_once_by_its_job) {
  const auto& [model, suite] = GetParam();
  constexpr std::uint64_t seed = 1;
  constexpr double no_limit_s = 1e9;
  const BackendChoice backend = parse_backend(std::string("sim:") + model);
  const auto device = open_device(backend, list_visible_devices(backend, 0, seed).at(0), seed);
  std::vector<JobResult> earlier;

  for (const Job* job : select_jobs(suite, {})) {
    JobOutcome outcome = run_job(*job, *device, suite, seed, earlier, no_limit_s, {});
    expect_every_metric_once(outcome.result, suite);
    earlier.push_back(std::move(outcome.result));
  }
}

std::string name_suite(const testing::TestParamInfo<SuiteOnModel>& info) {
  const bool quick = std::get<1>(info.param) == SuiteLevel::quick;
  return std::string(std::get<0>(info.param)) + (quick ? "_quick" : "_standard");
}

INSTANTIATE_TEST_SUITE_P(Quick, EveryMetricTest,
                         testing::Combine(testing::ValuesIn(shipped_models),
                                          testing::Values(SuiteLevel::quick)),
                         name_suite);
/// The job bypass plays each access of fermi_dac16, for a minute: a part of ./bootstrap.sh soak.
std::vector<const char*> models_of_the_standard_suite() {
  std::vector<const char*> models{"gtx280", "c2070", "gtx560ti"};
  if (std::getenv("SONDE_ALL_SEEDS") != nullptr) models.push_back("fermi_dac16");
  return models;
}

INSTANTIATE_TEST_SUITE_P(Standard, EveryMetricTest,
                         testing::Combine(testing::ValuesIn(models_of_the_standard_suite()),
                                          testing::Values(SuiteLevel::standard)),
                         name_suite);

}  // namespace
}  // namespace sonde::test
