// Parts of a file read for themselves are what they are in the whole.
#include "store/run_reader.hpp"

#include "store/part_source.hpp"
#include "store/write_run.hpp"
#include "support/random_run.hpp"

#include <gtest/gtest.h>

#include <algorithm>

namespace sonde {
namespace {

std::string print(const std::vector<Finding>& findings) {
  JobResult job;
  job.findings = findings;
  return test::print(job);
}

const JobResult* find_job(const DeviceResult& device, const std::string& name) {
  const auto found = std::ranges::find(device.jobs, name, &JobResult::job);
  return found == device.jobs.end() ? nullptr : &*found;
}

TEST(RunReaderTest, findings_of_some_metrics_are_those_of_all_without_the_others) {
  const test::TemporaryFolder folder;
  std::vector<DeviceResult> devices;
  for (int rank = 0; rank < 4; ++rank) devices.push_back(test::random_device(7, rank, 1));
  write_run_alone(folder / "run.h5", test::some_provenance(), {}, devices.size(),
                  [&](std::size_t i) { return part_in_memory(devices[i], {}); });
  const RunReader reader(folder / "run.h5");
  const RowRange span{1, 3};
  std::size_t compared = 0;
  for (const std::string& job : reader.job_names()) {
    const std::set<std::string> all = reader.metric_names({0, reader.count_findings(job)}, job);
    std::set<std::string> some;
    for (const std::string& name : all) {
      if (some.size() < all.size() / 2) some.insert(name);
    }
    const auto findings = reader.read_findings(span, job, some);
    ASSERT_EQ(findings.size(), span.length);
    for (std::size_t i = 0; i < span.length; ++i) {
      const JobResult* own = find_job(devices[span.offset + i], job);
      if (own == nullptr) continue;
      std::vector<Finding> expected = own->findings;
      std::erase_if(expected, [&](const Finding& one) { return !some.contains(one.metric); });
      EXPECT_EQ(print(findings[i]), print(expected)) << job;
      compared += expected.size();
    }
  }
  EXPECT_GT(compared, 0u);
}

}  // namespace
}  // namespace sonde
