// Files of schema version 5, with tables of outcomes and findings for each job: one of two
// simulated C2070 with the job clock, written by sonde at 3c1b6511.
#include "store/merge.hpp"
#include "store/part_source.hpp"
#include "store/run_reader.hpp"
#include "store/write_run.hpp"
#include "support/random_run.hpp"

#include <gtest/gtest.h>
#include <zlib.h>

#include <array>
#include <fstream>

namespace sonde {
namespace {

namespace fs = std::filesystem;
using test::print;

class OlderFileTest : public testing::Test {
 protected:
  OlderFileTest() {
    const gzFile packed = gzopen(STORE_TEST_DATA "/version5.h5.gz", "rb");
    std::ofstream file(path_, std::ios::binary);
    std::array<char, 4096> block{};
    for (int bytes = 0; (bytes = gzread(packed, block.data(), block.size())) > 0;) {
      file.write(block.data(), bytes);
    }
    gzclose(packed);
  }

  const test::TemporaryFolder folder_;
  const fs::path path_ = folder_ / "old.h5";
};

TEST_F(OlderFileTest, all_of_it_is_read) {
  EXPECT_EQ(RunReader(path_).layout(), Layout::by_job);
  const RunResult run = read_run(path_, WithTraces::yes);
  ASSERT_EQ(run.devices.size(), 2U);
  for (const DeviceResult& device : run.devices) {
    EXPECT_EQ(device.info.name, "Tesla C2070");
    const JobResult& clock = device.jobs.at(0);
    EXPECT_EQ(clock.job, "clock");
    const Finding* overhead = find_finding(clock.findings, "clock.overhead_cycles");
    ASSERT_NE(overhead, nullptr);
    EXPECT_TRUE(std::holds_alternative<double>(overhead->value));
    ASSERT_FALSE(clock.probes.empty());
    EXPECT_FALSE(clock.probes.front().trace.lanes.empty());
  }
}

TEST_F(OlderFileTest, a_merge_gives_a_file_of_this_version) {
  merge_runs({path_}, folder_ / "new.h5");

  EXPECT_EQ(RunReader(folder_ / "new.h5").layout(), Layout::joined);
  EXPECT_EQ(print(read_run(folder_ / "new.h5", WithTraces::yes)),
            print(read_run(path_, WithTraces::yes)));
}

TEST_F(OlderFileTest, some_of_its_devices_can_be_part_of_a_file) {
  write_run_alone(folder_ / "one.h5", test::some_provenance(), {}, 1, [this](std::size_t) {
    return part_of_file(path_, {1, 1});
  });

  EXPECT_EQ(print(read_run(folder_ / "one.h5", WithTraces::yes).devices.at(0)),
            print(read_run(path_, WithTraces::yes).devices.at(1)));
}

}  // namespace
}  // namespace sonde
