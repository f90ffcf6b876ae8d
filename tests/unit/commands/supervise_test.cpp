#include "commands/measure/supervise.hpp"

#include "base/stop_signal.hpp"
#include "commands/commands.hpp"
#include "store/run_reader.hpp"
#include "store/shard.hpp"
#include "support/random_run.hpp"
#include "support/thrown.hpp"

#include <gmock/gmock.h>
#include <unistd.h>

#include <csignal>
#include <filesystem>

namespace sonde {
namespace {

using testing::HasSubstr;
using testing::Not;
namespace fs = std::filesystem;

/// What a worker does with a job instead of measuring it.
enum class Fate { well, crash, device_lost };

void crash() {
  std::signal(SIGSEGV, SIG_DFL);  // sanitizers handle it otherwise
  raise(SIGSEGV);
}

class SuperviseTest : public testing::Test {
 protected:
  SuperviseTest() {
    fs::create_directories(plan_.parts);
    task_ = {.kind = TaskKind::measure, .device = {.uuid = "GPU-1", .ordinal = 0}};
  }

  /// A worker that goes through the jobs that are left as measure_device does, up to a bad one.
  Supervised supervise_with(const std::function<Fate(const std::string& job)>& fate_of) {
    return supervise_by([&](const std::string& text, const RankLink& rank) {
      const Task task = task_from_json(text);
      DeviceResult device = describe();
      std::vector<JobResult> done;
      Shard shard = open(task, device, done);
      for (const Job* job : plan_.jobs) {
        if (std::ranges::find(done, job->name, &JobResult::job) != done.end()) continue;
        if (std::ranges::find(task.lost_jobs, job->name, &LostJob::job) != task.lost_jobs.end()) {
          JobResult lost = test::random_job(1, std::string(job->name));
          lost.status = Status::failed;
          shard.append(lost);
          continue;
        }
        rank.say(to_json(Report{.kind = ReportKind::progress, .job = std::string(job->name)}));
        const Fate fate = fate_of(std::string(job->name));
        if (fate == Fate::crash) crash();
        JobResult result = test::random_job(1, std::string(job->name));
        result.status = fate == Fate::well ? Status::ok : Status::failed;
        shard.append(result);
        if (fate == Fate::device_lost) {
          rank.say(to_json(Report{.kind = ReportKind::job_lost,
                                  .job = std::string(job->name),
                                  .reason = "an illegal address"}));
          return 0;
        }
      }
      device.status = DeviceOutcome::complete;
      shard.finish(device);
      rank.say(to_json(Report{.kind = ReportKind::measured}));
      return 0;
    });
  }
  Supervised supervise_by(const Keeper::Work& work) {
    Keeper keeper(work);
    RankProgress progress(plan_.parts, {}, std::chrono::seconds(100));
    return supervise(run_, task_, keeper, progress);
  }
  static int cannot_write(const std::string&, const RankLink& rank) {
    rank.say(to_json(Report{.kind = ReportKind::failed, .reason = "the disk is full"}));
    return 0;
  }

  DeviceResult describe() const {
    DeviceResult device = test::random_device(1, 0);
    device.info.uuid = "GPU-1";
    device.info.name = "a GPU";
    return device;
  }
  Shard open(const Task& task, const DeviceResult& device, std::vector<JobResult>& done) const {
    if (!task.resume) return Shard::create(plan_.parts, device, plan_.provenance);
    ResumeFrom from;
    for (const LostJob& lost : task.lost_jobs) from.keep.push_back(lost.job);
    ResumedShard resumed = Shard::resume(plan_.parts, device, plan_.provenance, from);
    done = std::move(resumed.done);
    return std::move(resumed.shard);
  }
  DeviceResult shard() const {
    return read_run(finished_shard(plan_.parts, "GPU-1"), Depth::probes).devices.at(0);
  }

  const test::TemporaryFolder folder_;
  RunPlan run_ = plan_run({.backend = "sim:gtx980",
                           .suite = "quick",
                           .jobs = {"clock", "shared", "cache.l1"},
                           .output = (folder_ / "run.h5").string()},
                          "sonde run");
  MeasurePlan& plan_ = run_.points.front();
  Task task_;
};

TEST_F(SuperviseTest, a_job_that_takes_its_worker_along_costs_that_job_alone) {
  for (const Fate fate : {Fate::crash, Fate::device_lost}) {
    supervise_with([fate](const std::string& job) { return job == "clock" ? fate : Fate::well; });

    const DeviceResult device = shard();
    ASSERT_EQ(device.jobs.size(), 3U);
    for (const JobResult& job : device.jobs) {
      EXPECT_EQ(job.status, job.job == "clock" ? Status::failed : Status::ok) << job.job;
    }
  }
}

TEST_F(SuperviseTest, a_gpu_that_loses_every_worker_is_given_up_with_the_causes) {
  plan_.jobs = select_jobs(SuiteLevel::quick, {});
  ASSERT_GT(plan_.jobs.size(), 5U);

  const Supervised supervised = supervise_with([](const std::string&) { return Fate::crash; });

  EXPECT_EQ(supervised.failure, "");
  EXPECT_FALSE(supervised.stopped_early);
  const DeviceResult device = shard();
  ASSERT_EQ(device.jobs.size(), plan_.jobs.size());
  EXPECT_EQ(device.status, DeviceOutcome::incomplete);
  EXPECT_EQ(device.info.name, "a GPU");  // its inventory is kept
  EXPECT_THAT(device.reason, HasSubstr("4 worker process(es) were lost"));
  EXPECT_EQ(device.jobs[3].status, Status::failed);
  EXPECT_THAT(device.jobs[3].reason, HasSubstr("signal 11"));
  EXPECT_EQ(device.jobs[4].status, Status::not_run);
}

TEST_F(SuperviseTest, a_device_that_cannot_even_be_opened_is_given_up_sooner) {
  const Supervised supervised =
      supervise_by([](const std::string&, const RankLink&) -> int { _exit(9); });

  EXPECT_EQ(supervised.failure, "");
  EXPECT_THAT(shard().reason, HasSubstr("2 worker process(es) were lost on it"));
  EXPECT_THAT(shard().reason, HasSubstr("status 9"));
  for (const JobResult& job : shard().jobs) EXPECT_EQ(job.status, Status::not_run);
}

TEST_F(SuperviseTest, a_worker_lost_after_its_last_job_costs_nothing) {
  supervise_by([this](const std::string& text, const RankLink&) -> int {
    const Task task = task_from_json(text);
    std::vector<JobResult> done;
    Shard shard = open(task, describe(), done);
    for (const Job* job : plan_.jobs) {
      if (!done.empty()) break;
      JobResult result = test::random_job(1, std::string(job->name));
      result.status = Status::ok;
      shard.append(result);
    }
    raise(SIGKILL);
    return 0;
  });

  EXPECT_EQ(shard().status, DeviceOutcome::complete);
  EXPECT_EQ(shard().reason, "");
}

TEST_F(SuperviseTest, a_worker_that_cannot_write_its_shard_is_a_failure_of_the_rank) {
  EXPECT_EQ(supervise_by(cannot_write).failure, "the disk is full");
}

class SuperviseAgainTest : public SuperviseTest {
 protected:
  SuperviseAgainTest() {
    supervise_with([](const std::string&) { return Fate::well; });
    task_.kind = TaskKind::measure_again;
    task_.again_jobs = {"shared", "clock"};
    task_.limit_s = 20;
    first_ = test::print(shard());
  }
  void supervise_late_with(const Keeper::Work& work) {
    Keeper keeper(work);
    RankProgress progress(plan_.parts, {}, std::chrono::seconds(100));
    supervise_late(plan_, task_, keeper, progress);
  }

  std::string first_;  // what was measured at first
};

TEST_F(SuperviseAgainTest, a_worker_that_is_lost_leaves_the_reason_and_what_was_measured_at_first) {
  supervise_late_with([](const std::string&, const RankLink&) {
    crash();
    return 0;
  });

  DeviceResult device = shard();
  ASSERT_EQ(device.again.size(), 2U);
  for (const JobResult& job : device.again) {
    EXPECT_EQ(job.status, Status::failed);
    EXPECT_THAT(job.reason, HasSubstr("signal 11"));
  }
  device.again.clear();
  EXPECT_EQ(test::print(device), first_);
}

TEST_F(SuperviseAgainTest, a_worker_that_cannot_write_leaves_the_shard_as_it_was) {
  supervise_late_with(cannot_write);

  EXPECT_EQ(test::print(shard()), first_);
}

TEST_F(SuperviseAgainTest, only_jobs_that_a_signal_ends_are_said_to_have_some_time_left) {
  const auto stop_while = [](const auto& work) {
    note_stop_signals();
    std::raise(SIGUSR1);
    work();
    _exit(0);
  };
  const auto judge_all = [this] {
    Keeper works([](const std::string&, const RankLink& rank) {
      rank.say(to_json(Report{.kind = ReportKind::finished}));
      return 0;
    });
    RankProgress progress(plan_.parts, {}, std::chrono::seconds(100));
    judge(works, {.kind = TaskKind::judge}, progress);
  };
  const auto measure = [this] { supervise_with([](const std::string&) { return Fate::well; }); };

  EXPECT_EXIT(stop_while(judge_all), testing::ExitedWithCode(0), Not(HasSubstr("stop requested")));
  EXPECT_EXIT(stop_while(measure), testing::ExitedWithCode(0), HasSubstr("stop requested"));
}

TEST(AskDevicesTest, a_crash_while_listing_gpus_is_an_error_of_the_device) {
  Keeper crashing([](const std::string&, const RankLink&) -> int {
    crash();
    return 0;
  });
  Keeper failing([](const std::string&, const RankLink& rank) {
    rank.say(to_json(Report{.kind = ReportKind::failed, .reason = "no driver"}));
    return 0;
  });
  const auto error_of = [](Keeper& keeper) {
    return test::thrown<DeviceError>([&] {
      ask_devices(keeper, 0);
      hear_devices(keeper);
    });
  };

  EXPECT_THAT(error_of(crashing), HasSubstr("signal 11"));
  EXPECT_EQ(error_of(failing), "no driver");
}

TEST(WorkerTaskTest, tasks_and_reports_come_back_unchanged) {
  const Task task{.kind = TaskKind::build,
                  .rank = 3,
                  .ranks = 8,
                  .device = {.uuid = "GPU-1", .ordinal = 2},
                  .resume = true,
                  .lost_jobs = {{"tlb", "it \"hung\""}},
                  .again_jobs = {"shared"},
                  .limit_s = 12.5};
  const Report report{.kind = ReportKind::devices,
                      .devices = {{"GPU-1", 0}, {"GPU-2", 1}},
                      .job = "clock",
                      .jobs_done = 4,
                      .probes_done = 99,
                      .reason = "\xff is no UTF-8",
                      .exit_status = ExitStatus::incomplete};

  EXPECT_EQ(to_json(task_from_json(to_json(task))), to_json(task));
  EXPECT_EQ(to_json(report_from_json(to_json(report))), to_json(report));
  EXPECT_EQ(task_from_json(to_json(task)).lost_jobs.at(0).reason, "it \"hung\"");
  EXPECT_THROW(task_from_json("{}"), Error);
}

}  // namespace
}  // namespace sonde
