#include "commands/describe_end.hpp"

#include <gtest/gtest.h>

namespace sonde {
namespace {

TEST(DescribeEndTest, all_passed) {
  EXPECT_EQ(describe_end(ExitStatus::ok, {.audited = 8, .passed = 8}, "run.h5"),
            "status 0: all 8 GPUs passed");
  EXPECT_EQ(describe_end(ExitStatus::ok, {.audited = 1, .passed = 1}, "run.h5"),
            "status 0: the GPU passed");
}

TEST(DescribeEndTest, a_warning_is_told_though_the_status_is_0) {
  EXPECT_EQ(describe_end(ExitStatus::ok, {.audited = 8, .passed = 6, .warned = 2}, "run.h5"),
            "status 0: no GPU failed (6 passed, 2 warned)");
}

TEST(DescribeEndTest, failed_verdicts_are_counted) {
  EXPECT_EQ(describe_end(ExitStatus::verdict, {.audited = 8, .passed = 7, .failed = 1}, "run.h5"),
            "status 4: 1 of 8 GPUs failed its verdict; see run.h5");
  EXPECT_EQ(describe_end(ExitStatus::verdict, {.audited = 7, .passed = 5, .failed = 2, .lost = 1},
                         "run.h5"),
            "status 4: 2 of 8 GPUs failed their verdicts; see run.h5");
}

TEST(DescribeEndTest, a_node_can_fail_without_its_gpus) {
  EXPECT_EQ(describe_end(ExitStatus::verdict, {.expected = 4, .audited = 3, .passed = 3}, "run.h5"),
            "status 4: a node has fewer GPUs than most; see run.h5");
}

TEST(DescribeEndTest, incomplete_and_lost_gpus_are_counted) {
  EXPECT_EQ(describe_end(ExitStatus::incomplete,
                         {.audited = 7, .passed = 6, .incomplete = 1, .lost = 1}, "a/run.h5"),
            "status 3: results are incomplete (6 passed, 1 incomplete, 1 lost); see a/run.h5");
}

}  // namespace
}  // namespace sonde
