// Parts of a file read for themselves are what they are in the whole.
#include "store/run_reader.hpp"

#include "store/hdf5/flatten.hpp"
#include "support/run_file.hpp"

#include <gtest/gtest.h>

namespace sonde {
namespace {

class RunReaderTest : public testing::Test {
 protected:
  RunReaderTest() {
    for (int rank = 0; rank < 4; ++rank) devices_.push_back(test::random_device(7, rank, 1));
    test::write_run_file(folder_ / "run.h5", devices_);
  }

  const test::TemporaryFolder folder_;
  std::vector<DeviceResult> devices_;
};

TEST_F(RunReaderTest, devices_of_a_span_are_those_of_the_whole_file) {
  const RunReader reader(folder_ / "run.h5");
  for (std::uint64_t first = 0; first < devices_.size(); ++first) {
    for (std::uint64_t count = 1; first + count <= devices_.size(); ++count) {
      const auto span = reader.read_devices({first, count}, Depth::traces);
      ASSERT_EQ(span.size(), count);
      for (std::uint64_t i = 0; i < count; ++i) {
        EXPECT_EQ(test::print(span[i]), test::print(devices_[first + i])) << first << " " << count;
      }
    }
  }
}

TEST_F(RunReaderTest, one_job_of_a_device_has_its_traces_and_rows_are_counted) {
  const RunReader reader(folder_ / "run.h5");
  std::size_t findings = 0;
  std::size_t probes = 0;
  for (std::uint64_t row = 0; row < devices_.size(); ++row) {
    for (const StoredJob& job : stored_jobs(devices_[row])) {
      JobResult own = *job.result;
      own.job = job.name;
      EXPECT_EQ(test::print(reader.read_job(row, job.name)), test::print(own));
      findings += own.findings.size();
      probes += own.probes.size();
    }
    EXPECT_THROW(reader.read_job(row, "no job"), StoreError);
  }
  EXPECT_EQ(reader.count_findings(), findings);
  EXPECT_EQ(reader.count_probes(), probes);
  EXPECT_GT(probes, 0U);
}

}  // namespace
}  // namespace sonde
