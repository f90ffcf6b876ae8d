#include "commands/commands.hpp"

#include <gtest/gtest.h>

namespace sonde {
namespace {

TEST(DescribeEndTest, gpus_are_counted_by_verdict) {
  EXPECT_EQ(describe_end(ExitStatus::ok, {.audited = 8, .passed = 6, .warned = 2}, "run.h5"),
            "status 0: 6 passed, 2 warned; see run.h5");
  EXPECT_EQ(describe_end(ExitStatus::verdict, {.audited = 8, .passed = 7, .failed = 1}, "run.h5"),
            "status 4: 7 passed, 1 failed; see run.h5");
  EXPECT_EQ(describe_end(ExitStatus::incomplete,
                         {.audited = 7, .passed = 6, .incomplete = 1, .lost = 1}, "a/run.h5"),
            "status 3: 6 passed, 1 incomplete, 1 lost; see a/run.h5");
}

TEST(DescribeEndTest, a_node_can_fail_without_its_gpus) {
  EXPECT_EQ(describe_end(ExitStatus::verdict, {.expected = 4, .audited = 3, .passed = 3}, "run.h5"),
            "status 4: 3 passed, a node has fewer GPUs than most; see run.h5");
}

}  // namespace
}  // namespace sonde
