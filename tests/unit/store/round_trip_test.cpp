#include "store/run_reader.hpp"
#include "support/run_file.hpp"

#include <gtest/gtest.h>

#include <limits>

namespace sonde {
namespace {

using test::print;

RunResult random_run(std::uint64_t seed, int devices, int size_factor = 1) {
  RunResult run{test::some_provenance(), {}, {{"node7", "GPU-idle"}}};
  for (int rank = 0; rank < devices; ++rank) {
    run.devices.push_back(test::random_device(seed, rank, size_factor));
  }
  return run;
}

TEST(RunFileTest, random_runs_come_back_unchanged) {
  const test::TemporaryFolder folder;
  for (std::uint64_t seed = 0; seed < 12; ++seed) {
    const RunResult run = random_run(seed, static_cast<int>(seed % 5));

    test::write_run_file(folder / "run.h5", run);
    const RunResult back = read_run(folder / "run.h5", Depth::traces);

    ASSERT_EQ(print(back), print(run)) << "seed " << seed;
  }
}

JobResult one_lane(const LaneTrace& lane) {
  JobResult job{.job = "clock", .status = Status::ok, .reason = "", .findings = {}, .probes = {}};
  job.probes = {{"one", "chase", "{}", {}}};
  job.probes[0].trace.lanes = {lane};
  return job;
}

TEST(RunFileTest, odd_runs_come_back_unchanged) {
  constexpr std::uint64_t most = std::numeric_limits<std::uint64_t>::max();
  std::vector<RunResult> runs{random_run(3, 2, 2000)};  // compressed
  runs.push_back(random_run(1, 1));
  runs.back().provenance.command_line = std::string(200'000, 'x') + " größer";
  runs.back().provenance.slurm_job_id = "";
  runs.back().devices[0].reason = std::string(100'000, 'x');
  for (const std::vector<std::uint64_t>& offsets :
       {std::vector<std::uint64_t>{}, {0, 0}, {4096, 0, 8192}, {1ULL << 36, 0}, {most, 1}}) {
    runs.push_back(random_run(1, 2));
    runs.back().devices[0].jobs = {};
    LaneTrace lane;
    lane.window_cycles = {65535, 65536, std::numeric_limits<std::uint32_t>::max()};
    lane.offsets_bytes = offsets;
    runs.back().devices[1].jobs = {one_lane(lane)};
  }
  const test::TemporaryFolder folder;
  for (const RunResult& run : runs) {
    test::write_run_file(folder / "run.h5", run);

    EXPECT_EQ(print(read_run(folder / "run.h5", Depth::traces)), print(run));
  }
  EXPECT_FALSE(std::filesystem::exists(folder / "run.h5.part"));
}

void drop_traces(JobResult& job) {
  for (ProbeRecord& probe : job.probes) {
    probe.trace.lanes.clear();
    probe.trace.repeat_ns.clear();
  }
}

TEST(RunFileTest, without_traces_everything_else_is_there) {
  const test::TemporaryFolder folder;
  RunResult run = random_run(2, 3);
  test::write_run_file(folder / "run.h5", run);

  const RunResult back = read_run(folder / "run.h5", Depth::probes);

  for (DeviceResult& device : run.devices) {
    for (JobResult& job : device.jobs) drop_traces(job);
    for (JobResult& job : device.again) drop_traces(job);
  }
  EXPECT_EQ(print(back), print(run));
}

}  // namespace
}  // namespace sonde
