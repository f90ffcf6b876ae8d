#include "store/analysis_file.hpp"
#include "store/hdf5/owned_rows.hpp"
#include "store/run_reader.hpp"
#include "store/write_run.hpp"
#include "support/random_run.hpp"

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

void write(const std::filesystem::path& path, const RunResult& run) {
  write_run_alone(path, run.provenance, run.unaudited, run.devices.size(),
                  [&run](std::size_t i) { return std::vector{run.devices[i]}; });
}

TEST(RunFileTest, random_runs_come_back_unchanged) {
  const test::TemporaryFolder folder;
  for (std::uint64_t seed = 0; seed < 12; ++seed) {
    const RunResult run = random_run(seed, static_cast<int>(seed % 5));

    write(folder / "run.h5", run);
    const RunResult back = read_run(folder / "run.h5", WithTraces::yes);

    ASSERT_EQ(print(back), print(run)) << "seed " << seed;
  }
}

TEST(RunFileTest, provenance_comes_back_however_long) {
  const test::TemporaryFolder folder;
  RunResult run = random_run(1, 0);
  run.provenance.command_line = std::string(200000, 'x') + " größer";
  run.provenance.slurm_job_id = "";

  write(folder / "run.h5", run);

  EXPECT_EQ(print(read_run(folder / "run.h5", WithTraces::no)), print(run));
}

TEST(RunFileTest, large_traces_are_compressed_and_come_back_unchanged) {
  const test::TemporaryFolder folder;
  const RunResult run = random_run(3, 2, 2000);

  write(folder / "run.h5", run);
  const RunResult back = read_run(folder / "run.h5", WithTraces::yes);

  EXPECT_EQ(print(back), print(run));
}

TEST(RunFileTest, cycles_beyond_16_bits_keep_their_value) {
  const test::TemporaryFolder folder;
  RunResult run = random_run(1, 2);
  ProbeRecord record{"long", "chase", "{}", {}};
  record.trace.lanes.resize(1);
  record.trace.lanes[0].window_cycles = {65535, 65536, std::numeric_limits<std::uint32_t>::max()};
  run.devices[1].jobs = {{.job = "clock",
                          .status = Status::ok,
                          .reason = "",
                          .elapsed_s = 1,
                          .findings = {},
                          .probes = {record}}};

  write(folder / "run.h5", run);

  EXPECT_EQ(print(read_run(folder / "run.h5", WithTraces::yes)), print(run));
}

JobResult one_lane(const LaneTrace& lane) {
  JobResult job{.job = "clock", .status = Status::ok, .reason = "", .findings = {}, .probes = {}};
  job.probes = {{"one", "chase", "{}", {}}};
  job.probes[0].trace.lanes = {lane};
  return job;
}

TEST(RunFileTest, addresses_come_back_whatever_their_step) {
  const test::TemporaryFolder folder;
  const std::uint64_t most = std::numeric_limits<std::uint64_t>::max();
  RunResult run = random_run(1, 1);
  for (const std::vector<std::uint64_t>& offsets :
       {std::vector<std::uint64_t>{}, {0, 0}, {4096, 0, 8192}, {1ULL << 36, 0}, {most, 1}}) {
    LaneTrace lane;
    lane.offsets_bytes = offsets;
    run.devices[0].jobs = {one_lane(lane)};

    write(folder / "run.h5", run);

    EXPECT_EQ(print(read_run(folder / "run.h5", WithTraces::yes)), print(run));
  }
}

TEST(RunFileTest, columns_of_one_value_come_back_from_devices_that_agree_and_that_differ) {
  const test::TemporaryFolder folder;
  for (const std::uint64_t accesses : {7ULL, 8ULL, 1ULL << 40}) {
    RunResult run = random_run(1, 2);
    LaneTrace lane;
    lane.accesses = 7;
    run.devices[0].jobs = {one_lane(lane)};
    lane.accesses = accesses;
    run.devices[1].jobs = {one_lane(lane)};

    write(folder / "run.h5", run);

    EXPECT_EQ(print(read_run(folder / "run.h5", WithTraces::yes)), print(run));
  }
}

TEST(RunFileTest, a_job_of_the_second_device_alone_belongs_to_it) {
  const test::TemporaryFolder folder;
  RunResult run = random_run(1, 2);
  run.devices[0].jobs = {};
  run.devices[1].jobs = {one_lane({})};

  write(folder / "run.h5", run);

  EXPECT_EQ(print(read_run(folder / "run.h5", WithTraces::yes)), print(run));
}

TEST(RunFileTest, a_text_too_long_for_a_header_comes_back) {
  const test::TemporaryFolder folder;
  RunResult run = random_run(1, 1);
  run.devices[0].reason = std::string(100'000, 'x');

  write(folder / "run.h5", run);

  EXPECT_EQ(print(read_run(folder / "run.h5", WithTraces::yes)), print(run));
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
  write(folder / "run.h5", run);

  const RunResult back = read_run(folder / "run.h5", WithTraces::no);

  for (DeviceResult& device : run.devices) {
    for (JobResult& job : device.jobs) drop_traces(job);
    for (JobResult& job : device.again) drop_traces(job);
  }
  EXPECT_EQ(print(back), print(run));
}

TEST(RunFileTest, no_temporary_file_is_left) {
  const test::TemporaryFolder folder;

  write(folder / "run.h5", random_run(1, 1));

  EXPECT_TRUE(std::filesystem::exists(folder / "run.h5"));
  EXPECT_FALSE(std::filesystem::exists(folder / "run.h5.part"));
}

AnalysisRecord read_analysis(const std::filesystem::path& path) {
  const hdf5::Handle file = hdf5::open_to_read(path);
  const StoredTables tables(file, "analysis/");
  const auto read_all = [&](const auto& table) {
    return read_span(tables, table, {0, tables.rows(table.key())}).rows;
  };
  return {.fleet = read_all(fleet_table()),
          .flags = read_all(flag_table()),
          .verdicts = read_all(verdict_table())};
}

TEST(AnalysisFileTest, analysis_comes_back_and_the_second_replaces_the_first) {
  const test::TemporaryFolder folder;
  const RunResult run = random_run(4, 2);
  write(folder / "run.h5", run);
  const FleetRow row{.group = "g",
                     .metric = "m",
                     .unit = "ns",
                     .n = 4,
                     .median = 1.5,
                     .min = 1,
                     .max = 2,
                     .cv = 0.1,
                     .consensus = "7",
                     .agreeing = 3,
                     .outliers = "GPU-1",
                     .threshold = 4.5,
                     .ambiguous = true};
  const FlagRow flag{.uuid = "GPU-1", .severity = "warn", .score = 9, .unit = "SM 3, 17"};

  append_analysis(folder / "run.h5", {.verdicts = {{"GPU-1", "fail", "sm", "slow"}}});
  append_analysis(
      folder / "run.h5",
      {.fleet = {row}, .flags = {flag, flag}, .verdicts = {{"GPU-1", "pass", "unknown", ""}}});
  const AnalysisRecord back = read_analysis(folder / "run.h5");

  ASSERT_EQ(back.flags.size(), 2U);
  EXPECT_EQ(back.flags[1].severity, "warn");
  EXPECT_EQ(back.flags[1].score, 9);
  EXPECT_EQ(back.flags[1].unit, "SM 3, 17");
  ASSERT_EQ(back.fleet.size(), 1U);
  EXPECT_EQ(back.fleet[0].unit, "ns");
  EXPECT_EQ(back.fleet[0].median, 1.5);
  EXPECT_EQ(back.fleet[0].consensus, "7");
  EXPECT_EQ(back.fleet[0].agreeing, 3u);
  EXPECT_EQ(back.fleet[0].outliers, "GPU-1");
  EXPECT_EQ(back.fleet[0].threshold, 4.5);
  EXPECT_TRUE(back.fleet[0].ambiguous);
  ASSERT_EQ(back.verdicts.size(), 1U);
  EXPECT_EQ(back.verdicts[0].verdict, "pass");
  EXPECT_EQ(print(read_run(folder / "run.h5", WithTraces::yes)), print(run));
}

}  // namespace
}  // namespace sonde
