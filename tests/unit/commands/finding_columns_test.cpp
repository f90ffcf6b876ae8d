#include "commands/finding_columns.hpp"

#include "support/random_run.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <tuple>

namespace sonde {
namespace {

std::string print(const Finding& finding) {
  JobResult job;
  job.findings = {finding};
  return test::print(job);
}

TEST(FindingColumnsTest, findings_come_back_metric_by_metric) {
  using Key = std::tuple<std::string, std::string, std::size_t>;  // job, metric, device
  std::map<Key, std::string> expected;
  FindingColumns columns;
  for (std::size_t device = 0; device < 40; ++device) {
    // Neighbours agree in most, and some lack a job.
    DeviceResult result = test::random_device(device / 4, 0);
    if (device % 3 == 0 && !result.jobs.empty()) result.jobs.pop_back();
    for (JobResult& job : result.jobs) {
      std::erase_if(job.findings, [&](Finding& finding) {
        if (device % 5 == 1) finding.confidence /= 2;
        return !expected.emplace(Key{job.job, finding.metric, device}, print(finding)).second;
      });
      columns.add(device, job.job, job.findings);
    }
  }
  std::map<Key, std::string> back;
  for (const auto& [key, text] : expected) {
    const auto& [job, metric, device] = key;
    if (back.contains(key)) continue;
    columns.for_each(job, metric, [&](std::size_t owner, const Finding& finding) {
      EXPECT_TRUE(back.emplace(Key{job, metric, owner}, print(finding)).second);
    });
    const auto metrics = columns.metrics_of(job);
    EXPECT_TRUE(std::ranges::is_sorted(metrics));
    EXPECT_EQ(std::ranges::count(metrics, metric), 1);
  }
  EXPECT_GT(expected.size(), 100U);
  EXPECT_EQ(back, expected);
}

}  // namespace
}  // namespace sonde
