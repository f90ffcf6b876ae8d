// Jobs on some SMs of a GPU: they find what these SMs are like, and no others.
#include "device/some_sms.hpp"
#include "sim/job_on_sim.hpp"

#include <gtest/gtest.h>

namespace sonde::test {
namespace {

double l1_cycles_on(int sm) {
  const BackendChoice backend = parse_backend("sim:h200+slow_sm=17:3");
  const auto whole = open_device(backend, list_visible_devices(backend, 0, 1).at(0), 1);
  const auto device = limit_to_sms(*whole, {sm});
  std::vector<JobResult> results;
  for (const char* name : {"clock", "cache.l1"}) {
    const Job& job = *select_jobs(SuiteLevel::quick, {name}).back();
    results.push_back(run_job(job, *device, SuiteLevel::quick, 1, results, 600, {}).result);
  }
  for (const ProbeRecord& record : results.back().probes) {
    for (const LaneTrace& lane : record.trace.lanes) {
      EXPECT_EQ(lane.sm, sm) << record.label << ": traces name the SM of the GPU";
    }
  }
  for (const Finding& finding : results.back().findings) {
    if (finding.metric == "cache.l1.hit_latency_cycles") return std::get<double>(finding.value);
  }
  return 0;
}

TEST(SomeSmsSimTest, a_slow_sm_is_slow_alone_and_others_are_not) {
  EXPECT_EQ(l1_cycles_on(17), l1_cycles_on(18) + 3);
}

TEST(SomeSmsSimTest, every_job_that_takes_any_sm_answers_on_a_single_one) {
  const BackendChoice backend = parse_backend("sim:gtx780");
  const auto whole = open_device(backend, list_visible_devices(backend, 0, 1).at(0), 1);
  const auto device = limit_to_sms(*whole, {7});
  std::vector<JobResult> results;
  for (const Job* job : select_jobs_of_some_sms(select_jobs(SuiteLevel::quick, {}), {})) {
    results.push_back(run_job(*job, *device, SuiteLevel::quick, 1, results, 600, {}).result);
    EXPECT_EQ(results.back().status, Status::ok) << job->name << ": " << results.back().reason;
  }
}

}  // namespace
}  // namespace sonde::test
