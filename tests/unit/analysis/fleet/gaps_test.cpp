// Gaps are the same, however often and in which turns they are added.
#include "analysis/fleet/verdict/reduce.hpp"

#include <gmock/gmock.h>

namespace sonde {
namespace {

using testing::ElementsAre;

Finding gap(const char* metric, Status status, const char* reason) {
  Finding finding;
  finding.metric = metric;
  finding.status = status;
  finding.reason = reason;
  return finding;
}

RunResult run_with_gaps() {
  RunResult run;
  for (int i = 0; i < 3; ++i) {
    DeviceResult& device = run.devices.emplace_back();
    for (const char* name : {"b", "a"}) {
      JobResult& job = device.jobs.emplace_back();
      job.job = name;
      job.status = i == 1 ? Status::failed : Status::ok;
      job.reason = i == 1 ? "broken" : "";
      job.findings = {gap("x.one", Status::skipped, "not asked for"),
                      gap("x.two", Status::skipped, "not asked for"),
                      gap("x.three", i == 2 ? Status::ok : Status::failed, "broken")};
    }
  }
  return run;
}

TEST(GapsTest, there_is_one_for_each_job_status_and_reason) {
  const std::vector<Gap> gaps = reduce_fleet(run_with_gaps()).gaps;

  ASSERT_EQ(gaps.size(), 4u);
  EXPECT_EQ(gaps[0].job, "a");
  EXPECT_EQ(gaps[0].status, "failed");
  EXPECT_EQ(gaps[0].reason, "broken");
  EXPECT_THAT(gaps[0].metrics, ElementsAre("(the job)", "x.three"));
  EXPECT_THAT(gaps[0].devices, ElementsAre(0u, 1u));
  EXPECT_EQ(gaps[1].status, "skipped");
  EXPECT_THAT(gaps[1].metrics, ElementsAre("x.one", "x.two"));
  EXPECT_THAT(gaps[1].devices, ElementsAre(0u, 1u, 2u));
  EXPECT_EQ(gaps[3].job, "b");
}

}  // namespace
}  // namespace sonde
