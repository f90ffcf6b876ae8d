#include "jobs/suite.hpp"

#include "analysis/metrics.hpp"
#include "base/error.hpp"
#include "device/device_error.hpp"
#include "support/stub_device.hpp"
#include "support/thrown.hpp"

#include <gmock/gmock.h>

#include <algorithm>
#include <set>
#include <thread>

namespace sonde {
namespace {

using ::testing::AllOf;
using ::testing::Contains;
using ::testing::HasSubstr;
using ::testing::Not;

/// A device that fails its n-th probe, in the way asked for.
class FailingDevice final : public test::StubDevice {
 public:
  enum class Failure { probe, device, room };
  FailingDevice(int fails_at, Failure failure) : fails_at_(fails_at), failure_(failure) {}

 protected:
  Trace play(const ProbeSpec&) override {
    if (++probes_ == fails_at_) {
      if (failure_ == Failure::device) throw DeviceLostError("sticky error 700");
      if (failure_ == Failure::room) throw ProbeTooLargeError("a block has 48 KiB");
      throw DeviceError("launch failed");
    }
    return {};
  }

 private:
  int fails_at_;
  Failure failure_;
  int probes_ = 0;
};

ClockProbe any_probe() {
  ClockProbe probe;
  probe.sms = {0};
  probe.samples = 1;
  return probe;
}

void find_something_then_probe_twice(JobRun& run) {
  run.report(found("device.sm_count", 1.0, 1, 1));
  run.run("first", any_probe());
  run.run("second", any_probe());
}

JobOutcome run_test_job(Device& device, void (*body)(JobRun&), double time_limit_s = 60,
                        const std::function<void()>& on_probe = {}) {
  const Job job{"test", "", SuiteLevel::quick, body};
  return run_job(job, device, SuiteLevel::quick, 1, {}, time_limit_s, on_probe);
}

std::vector<std::string> names_of(const std::vector<const Job*>& jobs) {
  std::vector<std::string> names;
  for (const Job* job : jobs) names.emplace_back(job->name);
  return names;
}

TEST(SuiteTest, every_job_stands_behind_what_it_builds_on) {
  std::set<std::string_view> seen;

  for (const Job& job : all_jobs()) {
    for (std::string_view needed : job.builds_on) {
      EXPECT_TRUE(needed.empty() || seen.contains(needed)) << job.name << " needs " << needed;
    }
    EXPECT_TRUE(seen.insert(job.name).second) << job.name << " is there twice";
  }
}

TEST(SuiteTest, every_metric_belongs_to_a_job_and_has_one_row) {
  std::set<std::string_view> jobs;
  for (const Job& job : all_jobs()) jobs.insert(job.name);
  std::set<std::string_view> names;

  for (const Metric& metric : all_metrics()) {
    EXPECT_TRUE(jobs.contains(metric.job)) << metric.name << " names job " << metric.job;
    EXPECT_TRUE(names.insert(metric.name).second) << metric.name << " is there twice";
    EXPECT_FALSE(metric.meaning.empty()) << metric.name;
    EXPECT_FALSE(metric.source.empty()) << metric.name;
  }
}

TEST(SuiteTest, a_named_job_brings_what_it_builds_on) {
  const auto names = names_of(select_jobs(SuiteLevel::standard, {"cache.l1"}));

  EXPECT_THAT(names, Contains("clock"));
  EXPECT_EQ(names.back(), "cache.l1");
  EXPECT_EQ(names.size(), 2u);
}

TEST(SuiteTest, an_unknown_job_is_refused_with_those_there_are) {
  EXPECT_THAT(test::thrown<ConfigError>([] { select_jobs(SuiteLevel::standard, {"cache.l9"}); }),
              AllOf(HasSubstr("cache.l9"), HasSubstr("cache.l1")));
}

/// Its look at links, counters and the driver's log comes after all that could have caused errors.
TEST(SuiteTest, the_job_host_is_the_last_on_the_gpu_alone) {
  for (const SuiteLevel level : {SuiteLevel::quick, SuiteLevel::standard, SuiteLevel::full}) {
    auto jobs = select_jobs(level, {});
    std::erase_if(jobs, [](const Job* job) { return job->reach == JobReach::node; });
    EXPECT_EQ(jobs.front()->name, "device");
    EXPECT_EQ(jobs.back()->name, "host");
  }
}

TEST(SuiteTest, the_quick_suite_looks_at_each_sm_and_the_standard_one_at_links_too) {
  const auto quick = names_of(select_jobs(SuiteLevel::quick, {}));
  const auto standard = names_of(select_jobs(SuiteLevel::standard, {}));

  EXPECT_THAT(quick, Contains("placement"));
  EXPECT_THAT(quick, Not(Contains("peer")));
  EXPECT_THAT(standard, Contains("peer"));
  for (const std::string& name : quick) EXPECT_THAT(standard, Contains(name));
}

TEST(SuiteTest, jobs_that_look_at_all_sms_are_left_out_where_some_are_measured) {
  const auto all = select_jobs(SuiteLevel::standard, {});
  const auto names = names_of(select_jobs_of_some_sms(all, {}));

  EXPECT_THAT(names, Contains("cache.l1"));
  EXPECT_THAT(names, Not(Contains("topology")));
  EXPECT_THROW(select_jobs_of_some_sms(all, {"cache.l1", "topology"}), ConfigError);
  EXPECT_EQ(select_jobs_of_some_sms(all, {"cache.l1"}), all) << "what it builds on runs on all";
}

TEST(SuiteTest, a_failed_probe_ends_the_job_and_keeps_what_was_found) {
  FailingDevice device(2, FailingDevice::Failure::probe);

  const JobOutcome outcome = run_test_job(device, find_something_then_probe_twice);

  EXPECT_EQ(outcome.result.status, Status::failed);
  EXPECT_EQ(outcome.result.reason, "launch failed");
  EXPECT_FALSE(outcome.device_lost);
  EXPECT_EQ(outcome.result.findings.size(), 1u);
  EXPECT_EQ(outcome.result.probes.size(), 1u);
}

TEST(SuiteTest, what_a_job_forgets_is_reported_as_failed) {
  FailingDevice device(0, FailingDevice::Failure::probe);
  const Job forgetful{"clock", "", SuiteLevel::quick, [](JobRun& run) {
                        run.report(found("clock.overhead_cycles", 2.0, 1, 1));
                        run.report_rest("clock.g", Status::not_present, "no timer");
                      }};

  const JobOutcome outcome = run_job(forgetful, device, SuiteLevel::quick, 1, {}, 60, {});

  const auto& findings = outcome.result.findings;
  const auto of_job = std::count_if(all_metrics().begin(), all_metrics().end(),
                                    [](const Metric& metric) { return metric.job == "clock"; });
  EXPECT_EQ(static_cast<std::ptrdiff_t>(findings.size()), of_job);
  EXPECT_EQ(find_finding(findings, "clock.overhead_cycles")->status, Status::ok);
  EXPECT_EQ(find_finding(findings, "clock.granularity_cycles")->status, Status::not_present);
  EXPECT_EQ(find_finding(findings, "clock.granularity_cycles")->confidence, 1);
  EXPECT_EQ(find_finding(findings, "clock.scope")->status, Status::failed);
  EXPECT_EQ(find_finding(findings, "clock.scope")->confidence, 0);
}

TEST(SuiteTest, what_a_device_has_no_room_for_is_no_failure) {
  FailingDevice device(2, FailingDevice::Failure::room);
  const Job asks_for_much{"clock", "", SuiteLevel::quick, [](JobRun& run) {
                            const ClockProbe probe{ClockWindow::empty, {0}, 1};
                            run.run("small", probe);
                            run.report(found("clock.overhead_cycles", 2.0, 1, 1));
                            run.run("large", probe);
                          }};

  const JobOutcome outcome = run_job(asks_for_much, device, SuiteLevel::quick, 1, {}, 60, {});

  EXPECT_EQ(outcome.result.status, Status::not_resolvable);
  EXPECT_FALSE(outcome.device_lost);
  const auto& findings = outcome.result.findings;
  EXPECT_EQ(find_finding(findings, "clock.overhead_cycles")->status, Status::ok);
  EXPECT_EQ(find_finding(findings, "clock.scope")->status, Status::not_resolvable);
  EXPECT_EQ(find_finding(findings, "clock.scope")->reason, "a block has 48 KiB");
}

TEST(SuiteTest, a_lost_device_is_reported_as_lost) {
  FailingDevice device(1, FailingDevice::Failure::device);

  const JobOutcome outcome = run_test_job(device, find_something_then_probe_twice);

  EXPECT_TRUE(outcome.device_lost);
  EXPECT_EQ(outcome.result.status, Status::failed);
}

TEST(SuiteTest, a_job_over_its_time_is_given_up) {
  FailingDevice device(0, FailingDevice::Failure::probe);

  const JobOutcome outcome = run_test_job(device, find_something_then_probe_twice, 0.005, [] {
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
  });

  EXPECT_EQ(outcome.result.status, Status::failed);
  EXPECT_THAT(outcome.result.reason, HasSubstr("--job-timeout-s"));
}

TEST(SuiteTest, a_metric_outside_the_registry_or_twice_is_a_defect_that_shows) {
  FailingDevice device(0, FailingDevice::Failure::probe);

  const JobOutcome unknown =
      run_test_job(device, [](JobRun& run) { run.report(found("no.such_metric", 1.0, 1, 1)); });
  const JobOutcome twice = run_test_job(device, [](JobRun& run) {
    run.report(found("device.sm_count", 1.0, 1, 1));
    run.report(found("device.sm_count", 1.0, 1, 1));
  });

  EXPECT_THAT(unknown.result.reason, HasSubstr("no.such_metric"));
  EXPECT_THAT(twice.result.reason, HasSubstr("twice"));
}

}  // namespace
}  // namespace sonde
