#include "worker/keeper.hpp"

#include "base/stop_signal.hpp"

#include <gmock/gmock.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstdlib>
#include <stdexcept>
#include <string>
#include <thread>

namespace sonde {
namespace {

using namespace std::chrono_literals;
using Clock = std::chrono::steady_clock;
using testing::HasSubstr;

/// A worker whose task says what it does.
int play_task(const std::string& task, const RankLink& rank) {
  if (task == "greet") rank.say("hello from " + std::to_string(getpid()));
  if (task == "crash") {
    std::signal(SIGSEGV, SIG_DFL);  // sanitizers handle it otherwise
    raise(SIGSEGV);
  }
  if (task == "status 3") return 3;
  if (task == "throw") throw std::runtime_error("a worker may throw");
  if (task == "sleep") std::this_thread::sleep_for(60s);
  if (task == "until stopped") {
    rank.say("ready " + std::to_string(getpid()));
    while (!stop_requested()) std::this_thread::sleep_for(1ms);
    rank.say("stopped");
  }
  if (task == "flood") {
    for (int i = 0; i < 100000; ++i) rank.mention(std::string(1000, 'x'));
    rank.say("through");
  }
  return 0;
}

/// Everything a worker said, and its end.
struct Story {
  std::vector<std::string> said;
  WorkerEvent end;
};

Story run(Keeper& keeper, const std::string& task) {
  Story story;
  keeper.start(task);
  const auto limit = Clock::now() + 20s;
  while (Clock::now() < limit) {
    const auto event = keeper.next(100ms);
    if (!event) continue;
    if (event->ended) {
      story.end = *event;
      return story;
    }
    story.said.push_back(event->said);
  }
  ADD_FAILURE() << "the worker did not end";
  return story;
}

/// Whether a child is ended by SIGKILL before long. One that is not is ended here.
bool is_killed(pid_t child) {
  int status = 0;
  const auto limit = Clock::now() + 20s;
  while (waitpid(child, &status, WNOHANG) == 0) {
    if (Clock::now() > limit) {
      ::kill(child, SIGKILL);
      waitpid(child, nullptr, 0);
      return false;
    }
    std::this_thread::sleep_for(10ms);
  }
  return WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL;
}

bool is_gone(pid_t process) { return ::kill(process, 0) != 0 && errno == ESRCH; }

TEST(KeeperTest, workers_follow_each_other_in_processes_of_their_own) {
  Keeper keeper(play_task);

  const Story first = run(keeper, "greet");
  const Story second = run(keeper, "greet");

  ASSERT_EQ(first.said.size(), 1U);
  EXPECT_TRUE(first.end.well);
  EXPECT_NE(first.said, second.said);
  EXPECT_NE(first.said.front(), "hello from " + std::to_string(getpid()));
}

TEST(KeeperTest, the_end_of_a_worker_says_how_it_came) {
  Keeper keeper(play_task);

  EXPECT_THAT(run(keeper, "crash").end.end, HasSubstr("signal 11"));
  EXPECT_EQ(run(keeper, "status 3").end.end, "ended with status 3");
  EXPECT_EQ(run(keeper, "throw").end.end, "ended with status 1");
  EXPECT_TRUE(run(keeper, "greet").end.well);  // none of these took the keeper along
}

TEST(KeeperTest, a_worker_can_be_killed) {
  Keeper keeper(play_task);
  keeper.start("sleep");
  EXPECT_FALSE(keeper.next(50ms));

  keeper.kill();
  const auto event = keeper.next(10s);

  ASSERT_TRUE(event && event->ended);
  EXPECT_EQ(event->end, "was ended by signal 9 (Killed; out of memory? see dmesg)");
}

TEST(KeeperTest, a_worker_hears_that_it_is_to_stop_even_if_it_has_hardly_begun) {
  Keeper keeper(play_task);
  for (int i = 0; i < 20; ++i) {
    keeper.start("until stopped");
    keeper.stop();
    ASSERT_TRUE(keeper.next(10s));
    const auto said = keeper.next(10s);
    ASSERT_TRUE(said);
    ASSERT_EQ(said->said, "stopped");
    const auto ended = keeper.next(10s);
    ASSERT_TRUE(ended && ended->ended);
  }
}

TEST(KeeperTest, a_rank_that_does_not_listen_does_not_hold_up_its_worker) {
  Keeper keeper(play_task);
  keeper.start("flood");
  std::this_thread::sleep_for(500ms);

  std::string last;
  while (const auto event = keeper.next(10s)) {
    if (event->ended) break;
    last = event->said;
  }

  EXPECT_EQ(last, "through");
}

TEST(KeeperTest, without_its_keeper_every_worker_has_ended) {
  Keeper keeper(play_task);
  keeper.start("until stopped");
  const auto ready = keeper.next(10s);
  ASSERT_TRUE(ready);
  const pid_t worker = std::stoi(ready->said.substr(6));
  // The keeper is the one child of this process.
  std::string children;
  {
    FILE* file =
        std::fopen(("/proc/self/task/" + std::to_string(getpid()) + "/children").c_str(), "r");
    ASSERT_NE(file, nullptr);
    char text[64] = "";
    ASSERT_NE(std::fgets(text, sizeof text, file), nullptr);
    std::fclose(file);
    children = text;
  }

  ::kill(std::stoi(children), SIGKILL);
  const auto event = keeper.next(10s);
  const auto again = run(keeper, "greet");

  ASSERT_TRUE(event && event->ended);
  EXPECT_THAT(event->end, HasSubstr("keeper"));
  EXPECT_THAT(again.end.end, HasSubstr("keeper"));
  for (int i = 0; i < 1000 && !is_gone(worker); ++i) std::this_thread::sleep_for(5ms);
  EXPECT_TRUE(is_gone(worker));
}

TEST(KeeperTest, the_end_of_the_process_that_forked_it_is_bounded_even_if_that_is_stopped) {
  const pid_t rank = fork();
  if (rank == 0) {
    Keeper keeper(play_task);
    keeper.bound_end(1s);
    keeper.unbound_end();
    std::this_thread::sleep_for(2500ms);  // nothing happens
    keeper.bound_end(1s);
    raise(SIGSTOP);
    _exit(0);
  }
  const auto start = Clock::now();

  EXPECT_TRUE(is_killed(rank));
  EXPECT_GT(Clock::now() - start, 3s);
}

TEST(KeeperTest, a_process_that_is_stopped_after_its_last_word_is_ended_too) {
  const pid_t rank = fork();
  if (rank == 0) {
    { const Keeper keeper(play_task, 1s); }
    raise(SIGSTOP);  // as one that is stopped while it leaves
    _exit(0);
  }

  EXPECT_TRUE(is_killed(rank));
}

TEST(KeeperTest, keeper_and_worker_end_with_the_process_that_forked_them) {
  int ends[2];
  ASSERT_EQ(pipe(ends), 0);
  const pid_t rank = fork();
  if (rank == 0) {
    Keeper keeper(play_task);
    keeper.start("until stopped");
    const auto ready = keeper.next(10s);
    const int worker = ready ? std::stoi(ready->said.substr(6)) : 0;
    static_cast<void>(write(ends[1], &worker, sizeof worker));
    raise(SIGKILL);
  }
  int worker = 0;
  ASSERT_EQ(read(ends[0], &worker, sizeof worker), static_cast<ssize_t>(sizeof worker));
  waitpid(rank, nullptr, 0);

  for (int i = 0; i < 1000 && !is_gone(worker); ++i) std::this_thread::sleep_for(5ms);

  EXPECT_TRUE(is_gone(worker));
}

}  // namespace
}  // namespace sonde
