#include "fleet/progress.hpp"

#include "fleet/bind_cpu.hpp"
#include "support/random_run.hpp"

#include <gmock/gmock.h>
#include <sched.h>

#include <algorithm>
#include <fstream>
#include <limits>

namespace sonde {
namespace {

using testing::AllOf;
using testing::EndsWith;
using testing::HasSubstr;
using testing::MatchesRegex;
using testing::Not;

Progress at_work(int rank, int jobs_done) {
  Progress progress;
  progress.rank = rank;
  progress.ranks = 4;
  progress.node = "n" + std::to_string(rank);
  progress.uuid = "GPU-" + std::to_string(rank);
  progress.job = "cache.l1";
  progress.jobs_done = jobs_done;
  progress.jobs_total = 10;
  progress.elapsed_s = 20;
  return progress;
}

/// So rare that no progress line is printed.
constexpr std::chrono::seconds rare{100};

void write_progress(const std::filesystem::path& parts, const Progress& progress) {
  RankProgress(parts, progress, rare).tick();
}

TEST(ProgressTest, what_was_written_comes_back_by_rank) {
  const test::TemporaryFolder folder;
  write_progress(folder.path(), at_work(10, 3));
  write_progress(folder.path(), at_work(2, 5));

  const auto ranks = read_progress(folder.path());

  ASSERT_EQ(ranks.size(), 2U);
  EXPECT_EQ(ranks[0].rank, 2);
  EXPECT_EQ(ranks[1].node, "n10");
  EXPECT_EQ(ranks[1].job, "cache.l1");
  EXPECT_EQ(ranks[1].jobs_done, 3);
  const std::string text = describe_progress(ranks);
  EXPECT_EQ(std::ranges::count(text, '\n'), 3);
  EXPECT_THAT(text, AllOf(HasSubstr("GPU-2"), HasSubstr("GPU-10"), HasSubstr("measuring")));

  std::ofstream(folder / "GPU-1.h5") << "x";
  clear_progress(folder.path());
  EXPECT_TRUE(read_progress(folder.path()).empty());
  EXPECT_TRUE(std::filesystem::exists(folder / "GPU-1.h5"));
}

TEST(ProgressTest, the_beat_changes_with_each_job_but_not_with_each_probe) {
  const test::TemporaryFolder folder;
  EXPECT_EQ(progress_beat(folder.path(), 1), 0U);
  RankProgress progress(folder.path(), at_work(1, 0), rare);

  for (std::uint64_t probes = 0; probes < 1000; ++probes) progress.update("tlb", 0, probes);
  const auto during = progress_beat(folder.path(), 1);
  progress.update("tlb", 1, 1000);

  EXPECT_GE(during, 1U);
  EXPECT_LT(during, 20U);  // a thousand probes take well below 20 s
  EXPECT_EQ(progress_beat(folder.path(), 1), during + 1);
}

TEST(ProgressTest, broken_files_and_missing_folders_are_passed_over) {
  const test::TemporaryFolder folder;
  std::ofstream(folder / "3.progress.json") << "{\"rank\": 3, ";
  std::ofstream(folder / "4.progress.json") << "{\"rank\": \"four\"}";

  EXPECT_TRUE(read_progress(folder.path()).empty());
  EXPECT_TRUE(read_progress(folder / "none").empty());
  EXPECT_EQ(progress_beat(folder.path(), 3), 0U);
  write_progress(folder / "none", at_work(1, 1));
}

TEST(ProgressTest, summary_names_the_slowest_rank_and_the_time_left) {
  Progress done = at_work(0, 10);
  done.state = RankState::done;

  const std::string text = summarize_progress({done, at_work(1, 5), at_work(2, 2)});

  EXPECT_THAT(text, HasSubstr("17 of 30 device jobs done"));
  EXPECT_THAT(text, HasSubstr("slowest rank 2 (n2, cache.l1, 2 of 10), about 80 s left"));
}

TEST(ProgressTest, a_total_that_nobody_knows_is_not_shown) {
  Progress endless = at_work(0, 12);
  EXPECT_THAT(describe_progress({endless}), HasSubstr(" 12/10  jobs "));
  endless.jobs_total = 0;  // as many as the time budget allows
  EXPECT_THAT(describe_progress({endless}), HasSubstr(" 12     jobs "));
}

TEST(ProgressTest, impossible_times_are_printed_as_something) {
  Progress wild = at_work(0, 5);
  for (const double time_s : {1e300, -5.0, std::numeric_limits<double>::quiet_NaN()}) {
    wild.elapsed_s = time_s;
    EXPECT_THAT(describe_progress({wild}), HasSubstr("GPU-0"));
  }
}

TEST(ProgressTest, a_run_goes_on_while_any_rank_is_at_work) {
  Progress stopped = at_work(0, 2);
  stopped.state = RankState::stopped;
  stopped.silent_s = 1000;
  EXPECT_EQ(summarize_progress({stopped}),
            "2 of 10 device jobs done, the run was stopped: --resume goes on");
  EXPECT_FALSE(is_silent(stopped));
  Progress again = at_work(1, 10);
  again.state = RankState::measuring_again;
  Progress done = at_work(1, 10);
  done.state = RankState::done;

  EXPECT_THAT(summarize_progress({stopped, at_work(1, 3)}),
              AllOf(Not(HasSubstr("stopped")), HasSubstr("slowest rank 1")));
  EXPECT_THAT(summarize_progress({stopped, again}), Not(HasSubstr("stopped")));
  EXPECT_THAT(summarize_progress({stopped, done}), HasSubstr("the run was stopped"));
}

TEST(ProgressTest, summary_says_what_takes_time_when_all_have_measured) {
  Progress first = at_work(0, 10);
  Progress second = at_work(1, 10);
  first.ranks = second.ranks = 2;
  first.state = second.state = RankState::done;

  EXPECT_EQ(summarize_progress({first, second}),
            "20 of 20 device jobs done, writing and analysing the run file");
  EXPECT_EQ(summarize_progress({first}), "10 of 10 device jobs done") << "one is yet to begin";
  second.state = RankState::measuring_again;
  EXPECT_THAT(summarize_progress({first, second}), Not(HasSubstr("run file")));
}

/// Looks at ranks from second to second, by a clock of its own.
class SilenceWatchTest : public testing::Test {
 protected:
  bool look(int at_s) {
    return watch_.look(ranks_, SilenceWatch::Clock::time_point(std::chrono::seconds(1000 + at_s)));
  }
  SilenceWatch watch_;
  std::vector<Progress> ranks_{at_work(0, 3), at_work(1, 10)};
};

TEST_F(SilenceWatchTest, a_rank_at_work_whose_beat_stands_still_is_silent) {
  ranks_[1].state = RankState::done;
  look(0);
  EXPECT_FALSE(is_silent(ranks_[0])) << "nobody knows for how long it has been so";
  look(95);

  EXPECT_TRUE(is_silent(ranks_[0]));
  EXPECT_FALSE(is_silent(ranks_[1]));  // it waits for the others
  EXPECT_THAT(describe_progress(ranks_), HasSubstr("silent for 2 min"));
  EXPECT_THAT(summarize_progress(ranks_), HasSubstr("1 rank(s) without a sign of life"));
}

TEST_F(SilenceWatchTest, silence_begins_anew_with_each_beat) {
  look(0);
  ++ranks_[0].beat;
  look(95);
  EXPECT_FALSE(is_silent(ranks_[0]));
  look(100);

  EXPECT_EQ(ranks_[0].silent_s, 5);
  EXPECT_EQ(ranks_[1].silent_s, 100);
}

TEST_F(SilenceWatchTest, is_content_when_all_at_work_have_beaten) {
  EXPECT_FALSE(look(0));
  ++ranks_[0].beat;
  EXPECT_FALSE(look(1));
  ++ranks_[1].beat;
  EXPECT_TRUE(look(2));
  EXPECT_TRUE(look(3)) << "once is enough";
  ranks_ = {at_work(2, 10), at_work(3, 10)};
  ranks_[0].state = RankState::done;
  ranks_[1].state = RankState::stopped;
  EXPECT_TRUE(look(4)) << "who is not at work need not beat";
}

TEST(ProgressTest, a_shorter_text_leaves_nothing_of_a_longer_one) {
  const test::TemporaryFolder folder;
  RankProgress progress(folder.path(), at_work(1, 3), rare);
  progress.update(std::string(3000, 'x'), 3, 0);

  progress.update("tlb", 3, 0);

  ASSERT_EQ(read_progress(folder.path()).size(), 1U);
  EXPECT_EQ(read_progress(folder.path()).front().job, "tlb");
}

TEST(ProgressTest, rank_0_prints_one_line_per_interval_to_a_log) {
  const test::TemporaryFolder folder;
  testing::internal::CaptureStderr();

  RankProgress often(folder.path(), at_work(0, 3), std::chrono::seconds(0));
  often.tick();
  often.finish_line();
  write_progress(folder.path(), at_work(0, 3));

  const std::string text = testing::internal::GetCapturedStderr();
  const std::string line_of_log = summarize_progress(read_progress(folder.path())) + "\n";
  EXPECT_THAT(text, MatchesRegex("sonde: [0-9][0-9]:[0-9][0-9]:[0-9][0-9]Z .*\n"));
  EXPECT_THAT(text, EndsWith("Z " + line_of_log));
  EXPECT_EQ(std::ranges::count(text, '\n'), 1);
}

TEST(BindCpuTest, a_device_that_is_not_there_is_no_error) {
  EXPECT_THAT(bind_near_device("00000000:FE:1F.7", Bound::thread), HasSubstr("not bound"));
  EXPECT_THAT(bind_near_device("nonsense", Bound::process), HasSubstr("not bound"));
}

TEST(BindCpuTest, a_binding_that_nobody_asked_for_does_not_count) {
  const int all = count_given_cpus();
  cpu_set_t before;
  ASSERT_EQ(sched_getaffinity(0, sizeof before, &before), 0);
  int first = 0;
  while (!CPU_ISSET(first, &before)) ++first;
  cpu_set_t one;
  CPU_ZERO(&one);
  CPU_SET(first, &one);
  ASSERT_EQ(sched_setaffinity(0, sizeof one, &one), 0);

  EXPECT_EQ(count_given_cpus(), 1);
  setenv("OMPI_MCA_orte_bound_at_launch", "1", 1);
  unsetenv("OMPI_MCA_hwloc_base_binding_policy");
  EXPECT_EQ(count_given_cpus(), all);
  setenv("OMPI_MCA_hwloc_base_binding_policy", "core", 1);
  EXPECT_EQ(count_given_cpus(), 1);

  unsetenv("OMPI_MCA_orte_bound_at_launch");
  unsetenv("OMPI_MCA_hwloc_base_binding_policy");
  sched_setaffinity(0, sizeof before, &before);
}

}  // namespace
}  // namespace sonde
