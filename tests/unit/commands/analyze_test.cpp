// `sonde analyze`: other tolerances than those of the registry, and the last line of a run.
#include "base/error.hpp"
#include "commands/commands.hpp"
#include "support/run_file.hpp"
#include "support/thrown.hpp"

#include "unit/analysis/report/reported_fleets.hpp"

#include <gmock/gmock.h>

#include <filesystem>
#include <string>
#include <vector>

namespace sonde {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;

struct Said {
  ExitStatus status;
  std::string text;
};

Said analyze(const AnalyzeOptions& options) {
  testing::internal::CaptureStdout();
  const ExitStatus status = execute(options);
  return {status, testing::internal::GetCapturedStdout()};
}

RunResult with_slow_memory(RunResult run, std::size_t device, double factor) {
  maker::scale_finding(run.devices[device], "global.read_bytes_per_s", factor);
  return run;
}

constexpr const char* wide = "global.read_bytes_per_s=0.5";

TEST(ToleranceTest, decides_the_verdicts_of_small_large_and_swept_fleets) {
  const test::TemporaryFolder folder;
  const std::string path = folder / "run.h5";
  for (const RunResult& run :
       {with_slow_memory(maker::healthy_fleet(5, 7), 2, 0.8),
        with_slow_memory(maker::healthy_fleet(260, 7), 2, 0.8), swept_fleet()}) {
    test::write_run_file(path, run);
    const Said usual = analyze({.run = path, .baseline = "", .tolerances = {}});
    EXPECT_EQ(usual.status, ExitStatus::verdict) << run.devices.size();
    EXPECT_EQ(analyze({.run = path, .baseline = "", .tolerances = {wide}}).status, ExitStatus::ok)
        << run.devices.size();
  }
}

TEST(ToleranceTest, decides_what_changed_since_the_baseline) {
  const test::TemporaryFolder folder;
  const std::string before = folder / "before.h5";
  const std::string after = folder / "after.h5";
  test::write_run_file(before, maker::healthy_fleet(1, 7));
  test::write_run_file(after, with_slow_memory(maker::healthy_fleet(1, 7), 0, 0.975));
  EXPECT_THAT(analyze({.run = after, .baseline = before, .tolerances = {}}).text,
              HasSubstr("0 changed values"));

  const Said said = analyze(
      {.run = after, .baseline = before, .tolerances = {wide, "global.read_bytes_per_s=0.01"}});

  EXPECT_EQ(said.status, ExitStatus::verdict);  // it fails from 5/3 of what it warns from
  EXPECT_THAT(said.text, HasSubstr("1 changed value\n"));
  const std::string edge = "global.read_bytes_per_s=0.02";
  EXPECT_EQ(analyze({.run = after, .baseline = before, .tolerances = {edge}}).status,
            ExitStatus::ok);
}

std::string tolerance_refusal(const std::string& tolerance) {
  return test::thrown<ConfigError>([&] { registry_with({tolerance}); });
}

TEST(ToleranceTest, is_a_number_above_0_of_a_metric_that_has_one) {
  EXPECT_EQ(tolerance_refusal("global.read_bytes_per_s=0.02"), "nothing is wrong");
  EXPECT_EQ(tolerance_refusal("cache.l2.size_bytes=1e-3"), "nothing is wrong");
  for (const char* number : {"", "=", "=0", "=-0.1", "=nan", "=inf", "=two", "=0.1 ", "=0.1=0.1"}) {
    EXPECT_THAT(tolerance_refusal(std::string("global.read_bytes_per_s") + number),
                HasSubstr("METRIC=FRACTION"))
        << number;
  }
  for (const char* text : {"", "=0.1", "global.raed=0.1"}) {
    EXPECT_THAT(tolerance_refusal(text),
                AllOf(HasSubstr("unknown metric"), HasSubstr("sonde list metrics")));
  }
  EXPECT_THAT(tolerance_refusal("device.sm_count=0.1"), HasSubstr("has no tolerance"));
  EXPECT_THROW(execute(AnalyzeOptions{.run = "none.h5", .baseline = "", .tolerances = {"x=1"}}),
               ConfigError);
}

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
