#include "store/shard.hpp"

#include "base/error.hpp"
#include "store/merge.hpp"
#include "store/output.hpp"
#include "store/run_reader.hpp"
#include "support/run_file.hpp"

#include <gmock/gmock.h>
#include <hdf5.h>

#include <csignal>
#include <fstream>

namespace sonde {
namespace {

using test::print;
using testing::HasSubstr;
using testing::IsEmpty;
namespace fs = std::filesystem;

/// A shard is read like a run file of one device.
DeviceResult read_shard(const fs::path& path, Depth depth) {
  return read_run(path, depth).devices.at(0);
}

class ShardTest : public testing::Test {
 protected:
  ShardTest() { device_.again.clear(); }
  Shard create() { return Shard::create(folder_.path(), device_, provenance_); }
  void finish_shard() {
    Shard shard = create();
    for (const JobResult& job : device_.jobs) shard.append(job);
    shard.finish(device_);
  }
  ResumedShard resume() {
    DeviceResult moved = device_;
    moved.node = "other-node";
    moved.rank = 7;
    return Shard::resume(folder_.path(), moved, provenance_);
  }
  fs::path finished() const { return folder_ / (device_.info.uuid + ".h5"); }
  fs::path unfinished() const { return finished().string() + ".part"; }

  /// Another process writes these jobs and is killed, as the kernel or a node failure would.
  void write_and_die(const std::vector<JobResult>& jobs) {
    const int status = test::status_of_process([&] {
      Shard shard = create();
      for (const JobResult& job : jobs) shard.append(job);
      return raise(SIGKILL);
    });
    ASSERT_TRUE(WIFSIGNALED(status));
  }

  test::TemporaryFolder folder_;
  DeviceResult device_ = test::random_device(5, 1);
  Provenance provenance_ = test::some_provenance();
  JobResult ok_ = with_status("clock", Status::ok);
  JobResult failed_ = with_status("tlb", Status::failed);

  static JobResult with_status(const std::string& name, Status status) {
    JobResult job = test::random_job(9, name, 200);
    job.status = status;
    return job;
  }
};

TEST_F(ShardTest, shard_of_a_killed_process_keeps_its_jobs_and_says_lost) {
  write_and_die({ok_, failed_});

  const auto back = read_shard(unfinished(), Depth::traces);

  EXPECT_EQ(back.status, DeviceOutcome::lost);
  ASSERT_EQ(back.jobs.size(), 2U);
  EXPECT_EQ(print(back.jobs[0]), print(ok_));
  EXPECT_EQ(print(back.jobs[1]), print(failed_));
  EXPECT_EQ(back.before.throttle_reasons, device_.before.throttle_reasons);
}

TEST_F(ShardTest, resume_keeps_final_jobs_on_another_rank) {
  write_and_die({ok_, failed_});

  auto [shard, done, note, again] = resume();

  EXPECT_EQ(note, "");
  ASSERT_EQ(done.size(), 1U);
  EXPECT_TRUE(again.empty());
  JobResult without_traces = ok_;
  without_traces.probes = done[0].probes;
  EXPECT_EQ(print(done[0]), print(without_traces));
  EXPECT_TRUE(std::ranges::all_of(done[0].probes, [](const ProbeRecord& probe) {
    return std::ranges::all_of(probe.trace.lanes,
                               [](const LaneTrace& lane) { return lane.window_cycles.empty(); });
  }));
  shard.append(with_status("tlb", Status::ok));
  shard.finish(device_);
  const auto back = read_shard(finished(), Depth::traces);
  ASSERT_EQ(back.jobs.size(), 2U);
  EXPECT_EQ(back.jobs[1].status, Status::ok);
  EXPECT_EQ(back.node, "other-node");
  EXPECT_EQ(back.rank, 7);
  EXPECT_EQ(list_shards(folder_.path()), std::vector{finished()});
}

TEST_F(ShardTest, shards_of_another_configuration_are_set_aside) {
  const fs::path run = folder_ / "run.h5";
  const fs::path parts = parts_folder(run);
  fs::create_directories(parts / "a-point");
  for (const fs::path& folder : {parts, parts / "a-point"}) {
    Shard::create(folder, device_, provenance_).append(ok_);
  }
  int shards = 0;
  const auto set_aside = [&] {
    return extract_shards(run, provenance_, {}, [&shards] { ++shards; });
  };
  EXPECT_THAT(set_aside(), IsEmpty());
  EXPECT_EQ(shards, 2) << "signs of life";
  provenance_.config_hash = "other";

  EXPECT_THAT(set_aside(), testing::ElementsAre(HasSubstr("another configuration")));

  const fs::path aside = finished_shard(parts, device_.info.uuid).string() + ".c0ffee.old";
  EXPECT_NO_THROW(read_shard(aside, Depth::probes));
  EXPECT_EQ(list_shards(parts).size(), 1U) << "the other one is in a folder of its point";
}

TEST_F(ShardTest, resume_replaces_a_shard_that_cannot_be_read) {
  EXPECT_EQ(resume().note, "") << "there is none";
  std::ofstream(unfinished()) << "not HDF5 at all";
  EXPECT_THAT(resume().note, HasSubstr("measured anew"));
  write_and_die({ok_});
  const hid_t file = H5Fopen(unfinished().c_str(), H5F_ACC_RDWR, H5P_DEFAULT);
  ASSERT_GE(file, 0);
  ASSERT_GE(H5Ldelete(file, "parts/1/outcomes/outcome", H5P_DEFAULT), 0);
  H5Fclose(file);

  const auto resumed = resume();

  EXPECT_TRUE(resumed.done.empty());
  EXPECT_THAT(resumed.note, HasSubstr("measured anew"));
  EXPECT_NO_THROW(read_shard(unfinished(), Depth::probes));
}

TEST_F(ShardTest, resume_goes_on_from_a_run_file_where_there_is_no_shard) {
  DeviceResult before = device_;
  before.jobs = {ok_, failed_};
  const fs::path run = folder_ / "run.h5";
  test::write_run_file(run, {test::random_device(5, 0), before});

  auto [shard, done, note, again] = Shard::resume(
      folder_.path(), device_, provenance_, {.run = run, .keep = {failed_.job}, .builds_on = {}});

  EXPECT_EQ(note, "");
  EXPECT_TRUE(again.empty());
  ASSERT_EQ(done.size(), 2U);  // the failed one, because it is to be kept
  shard.finish(device_);
  const auto back = read_shard(finished(), Depth::traces);
  ASSERT_EQ(back.jobs.size(), 2U);
  EXPECT_EQ(print(back.jobs[0]), print(ok_));
  EXPECT_EQ(print(back.jobs[1]), print(failed_));
}

TEST_F(ShardTest, a_job_that_ran_without_what_it_builds_on_is_measured_again) {
  const JobResult lost = with_status("clock", Status::failed);
  const JobResult built = with_status("cache.l1", Status::ok);
  const JobResult alone = with_status("shared", Status::ok);
  write_and_die({lost, built, alone});
  ResumeFrom from{.run = {}, .keep = {}, .builds_on = [](const std::string& job) {
                    return job == "cache.l1" ? std::vector<std::string>{"clock"}
                                             : std::vector<std::string>{};
                  }};

  const auto again = Shard::resume(folder_.path(), device_, provenance_, from);

  ASSERT_EQ(again.done.size(), 1U);
  EXPECT_EQ(again.done[0].job, "shared");
}

TEST_F(ShardTest, second_tries_are_added_to_a_finished_shard) {
  device_.jobs = {ok_, failed_};
  finish_shard();
  EXPECT_FALSE(fs::exists(unfinished()));
  const DeviceResult first = read_shard(finished(), Depth::probes);

  Shard shard = Shard::extend(folder_.path(), first);
  shard.append_again(failed_);
  EXPECT_EQ(print(read_shard(finished(), Depth::traces)), print(device_));  // until then
  EXPECT_EQ(list_shards(folder_.path()), std::vector{finished()});
  EXPECT_THROW(shard.append_again(failed_), Error);
  shard.finish(first);

  device_.again = {failed_};
  EXPECT_EQ(print(read_shard(finished(), Depth::traces)), print(device_));
  EXPECT_THROW(Shard::extend(folder_.path(), device_).append_again(failed_), Error);
}

TEST_F(ShardTest, resume_keeps_second_tries_that_are_final_and_whose_first_try_is_kept) {
  JobResult second = ok_;
  second.findings.clear();
  const JobResult shared = with_status("shared", Status::ok);
  device_.jobs = {ok_, failed_, shared};
  finish_shard();
  Shard shard = Shard::extend(folder_.path(), read_shard(finished(), Depth::probes));
  JobResult of_failed = failed_;
  of_failed.status = Status::ok;
  JobResult failed_twice = shared;
  failed_twice.status = Status::failed;
  for (const JobResult& job : {second, of_failed, failed_twice}) shard.append_again(job);
  shard.finish(device_);

  auto [resumed, done, note, again] = resume();

  EXPECT_EQ(note, "");
  EXPECT_FALSE(fs::exists(finished()));
  EXPECT_TRUE(fs::exists(unfinished()));
  ASSERT_EQ(done.size(), 2U);
  EXPECT_EQ(done[1].job, "shared");
  ASSERT_EQ(again.size(), 1U);
  EXPECT_EQ(again[0].job, ok_.job);
  resumed.append(failed_);
  resumed.finish(device_);
  const DeviceResult back = read_shard(finished(), Depth::traces);
  EXPECT_EQ(back.jobs.size(), 3U);
  ASSERT_EQ(back.again.size(), 1U);
  EXPECT_EQ(print(back.again[0]), print(second));
}

TEST_F(ShardTest, devices_of_a_run_file_that_nobody_measures_now_become_shards) {
  device_.jobs = {ok_, failed_};
  device_.again = {failed_};
  const DeviceResult now = test::random_device(5, 0);
  const fs::path run = folder_ / "run.h5";
  fs::create_directories(parts_folder(run));
  test::write_run_file(run, {now, device_});

  extract_shards(run, provenance_, {now.info.uuid});

  const auto shard = finished_shard(parts_folder(run), device_.info.uuid);
  EXPECT_EQ(list_shards(parts_folder(run)), std::vector{shard});
  EXPECT_EQ(print(read_shard(shard, Depth::traces)), print(device_));
  Provenance other = provenance_;
  other.config_hash = "other";
  EXPECT_THROW(extract_shards(run, other, {}), ConfigError);
}

TEST_F(ShardTest, a_suspended_shard_is_incomplete_and_errors_from_before_it_are_those_of_the_run) {
  device_.before = {.temperature_c = 40, .ecc_corrected = 3, .ecc_uncorrected = 5};
  create().suspend("stopped by a signal");
  const DeviceResult suspended = read_shard(unfinished(), Depth::probes);
  EXPECT_EQ(suspended.status, DeviceOutcome::incomplete);
  EXPECT_EQ(suspended.reason, "stopped by a signal");
  device_.before = {
      .temperature_c = 45, .ecc_corrected = 4, .ecc_uncorrected = 0, .foreign_processes = 2};
  resume().shard.suspend("stopped by a signal");
  device_.before = {};
  device_.after = {.temperature_c = 50, .ecc_uncorrected = 5};
  resume().shard.finish(device_);

  const DeviceResult back = read_shard(finished(), Depth::probes);
  EXPECT_EQ(back.before.ecc_uncorrected, 0) << "5 errors after the reset are errors of the run";
  EXPECT_EQ(back.before.ecc_corrected, 3) << "this one did not fall";
  EXPECT_EQ(back.before.temperature_c, 40);
  EXPECT_EQ(back.before.foreign_processes, 2);
  EXPECT_EQ(back.after.ecc_uncorrected, 5);
}

TEST_F(ShardTest, results_of_another_configuration_outlive_the_folder_that_they_are_in) {
  const fs::path parts = folder_ / "run.h5.parts";
  const std::vector<Point> points{{.config_hash = "a-point", .config_json = "{}"}};
  const auto measure_at = [&](const char* point) {
    fs::create_directories(parts / point);
    Shard::create(parts / point, device_, provenance_).append(ok_);
  };
  measure_at("a-point");
  fs::create_directories(parts / "begun");
  std::ofstream(parts / "0.progress.json") << "{}";
  EXPECT_THAT(remove_joined_parts(parts, points), IsEmpty());
  EXPECT_FALSE(fs::exists(parts));

  measure_at("a-point");
  measure_at("another");
  std::ofstream(parts / "GPU-1.h5.c0ffee.old") << "set aside";

  EXPECT_EQ(remove_joined_parts(parts, points).size(), 2U);
  EXPECT_FALSE(fs::exists(parts / "a-point"));
  EXPECT_EQ(list_shards(parts).size(), 1U);
  EXPECT_TRUE(fs::exists(parts / "GPU-1.h5.c0ffee.old"));
}

TEST_F(ShardTest, all_findings_of_a_finished_shard_are_those_of_its_jobs) {
  for (std::uint64_t seed = 0; seed < 20; ++seed) {
    device_ = test::random_device(seed, 1);
    Shard shard = create();
    for (const JobResult& job : device_.jobs) shard.append(job);
    for (const JobResult& job : device_.again) shard.append_again(job);
    shard.finish(device_);

    EXPECT_EQ(print(read_shard(finished(), Depth::traces)), print(device_)) << "seed " << seed;
    for (JobResult& job : device_.jobs) job.probes.clear();
    for (JobResult& job : device_.again) job.probes.clear();
    EXPECT_EQ(print(read_shard(finished(), Depth::findings)), print(device_)) << "seed " << seed;
  }
}

TEST_F(ShardTest, shard_being_written_can_be_read_by_another_process) {
  Shard shard = create();
  shard.append(ok_);

  EXPECT_EQ(std::system(("h5dump -H '" + unfinished().string() + "' >/dev/null").c_str()), 0);
  EXPECT_EQ(read_shard(unfinished(), Depth::probes).jobs.size(), 1U);
}

TEST_F(ShardTest, the_run_file_of_one_shard_has_its_content) {
  finish_shard();
  const fs::path run = folder_ / "run.h5";
  fs::create_directories(parts_folder(run));
  fs::copy(finished(), parts_folder(run));
  const std::vector<UnauditedDevice> idle{{"node9", "GPU-idle"}};

  write_run_from_shards(run, {.provenance = provenance_, .devices = {}, .unaudited = idle});

  EXPECT_EQ(print(read_run(run, Depth::traces)), print(RunResult{provenance_, {device_}, idle}));
  EXPECT_FALSE(fs::exists(folder_ / "run.h5.alone.part"));
  std::ofstream(parts_folder(run) / finished().filename()) << "broken";
  EXPECT_THROW(write_run_from_shards(run, {.provenance = provenance_}), StoreError);
}

TEST_F(ShardTest, a_file_built_alone_is_out_of_reach_of_a_rank_that_was_stopped_while_writing) {
  const fs::path run = folder_ / "run.h5";
  std::ofstream stopped(run.string() + ".part");  // it has the common file open
  test::write_run_file(run, {device_});

  stopped << std::string(100000, 'x') << std::flush;  // and goes on

  EXPECT_EQ(print(read_run(run, Depth::traces).devices.at(0)), print(device_));
}

TEST_F(ShardTest, merge_takes_unfinished_shards_and_expected_devices) {
  write_and_die({ok_});
  DeviceResult other = test::random_device(5, 0);
  other.jobs = {failed_};
  Shard shard = Shard::create(folder_.path(), other, provenance_);
  shard.append(failed_);
  shard.finish(other);
  std::ofstream(folder_ / "GPU-broken.h5") << "broken";
  const test::TemporaryFolder results;
  fs::copy(folder_.path(), parts_folder(results / "run"));

  const MergeNotes notes = write_run_from_shards(
      results / "run", {.provenance = provenance_,
                        .devices = {{.uuid = "GPU-never", .node = "node7", .rank = 2}},
                        .unaudited = {{"node0", "GPU-idle"}}});
  const RunResult run = read_run(results / "run", Depth::traces);

  ASSERT_EQ(run.devices.size(), 3U);
  EXPECT_EQ(run.devices[0].info.uuid, other.info.uuid);
  EXPECT_EQ(run.devices[1].info.uuid, device_.info.uuid);
  EXPECT_EQ(run.devices[1].status, DeviceOutcome::lost);
  EXPECT_EQ(run.devices[2].info.uuid, "GPU-never");
  EXPECT_EQ(run.devices[2].status, DeviceOutcome::lost);
  EXPECT_EQ(print(run.devices[1].jobs.at(0)), print(ok_));
  ASSERT_EQ(notes.size(), 1U);
  EXPECT_THAT(notes[0], HasSubstr("GPU-broken.h5"));
}

}  // namespace
}  // namespace sonde
