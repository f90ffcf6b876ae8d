#include "commands/describe_points.hpp"

#include <gmock/gmock.h>

namespace sonde {
namespace {

using ::testing::EndsWith;
using ::testing::HasSubstr;
using ::testing::Not;

/// A point for each job, with what that builds on.
RunPlan plan_of(const std::vector<std::string>& jobs) {
  RunPlan plan;
  if (jobs.size() > 1) plan.provenance.axes = {{.option = "jobs", .unit = "1"}};
  for (const std::string& job : jobs) {
    plan.provenance.points.emplace_back().at = {job};
    plan.points.emplace_back().jobs = select_jobs(SuiteLevel::quick, {job});
  }
  return plan;
}

TEST(DescribePointsTest, a_plain_run_has_its_jobs) {
  EXPECT_EQ(describe_points(plan_of({"shared"})), "jobs: clock shared\n");
}

TEST(DescribePointsTest, jobs_that_all_points_have_stand_once_below_them) {
  const std::string text = describe_points(plan_of({"clock", "clock"}));
  EXPECT_THAT(text, HasSubstr("   1  repeat 0  seed 1  jobs=clock  1 jobs\n"));
  EXPECT_THAT(text, EndsWith("\njobs: clock\n"));
}

TEST(DescribePointsTest, points_that_differ_in_their_jobs_name_them) {
  const std::string text = describe_points(plan_of({"clock", "shared"}));
  EXPECT_THAT(text, HasSubstr("   0  repeat 0  seed 1  jobs=clock  1 jobs: clock\n"));
  EXPECT_THAT(text, EndsWith("   1  repeat 0  seed 1  jobs=shared  2 jobs: clock shared\n"));
  EXPECT_THAT(text, Not(HasSubstr("\njobs:")));
}

}  // namespace
}  // namespace sonde
