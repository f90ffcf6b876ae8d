#include "mpi/stage_watch.hpp"

#include "base/error.hpp"
#include "base/stop_signal.hpp"

#include <gtest/gtest.h>

#include <chrono>
#include <csignal>
#include <thread>

namespace sonde {
namespace {

using namespace std::chrono_literals;

[[noreturn]] void sleep_and_leave(std::chrono::milliseconds time) {
  std::this_thread::sleep_for(time);
  std::_Exit(42);
}

TEST(StageWatchDeathTest, a_stage_over_its_time_ends_the_process_with_its_status) {
  EXPECT_EXIT(
      {
        StageWatch watch(0.5);
        watch.enter({.name = "writing", .status = ExitStatus::incomplete});
        sleep_and_leave(10s);
      },
      testing::ExitedWithCode(3), "writing took longer than");
}

TEST(StageWatchDeathTest, a_rescue_that_fails_leaves_the_status_of_the_stage) {
  EXPECT_EXIT(
      {
        StageWatch watch(0.3);
        watch.enter({.name = "writing",
                     .status = ExitStatus::incomplete,
                     .rescue = []() -> ExitStatus { throw CommError("the launcher is gone"); }});
        sleep_and_leave(10s);
      },
      testing::ExitedWithCode(3), "the launcher is gone");
}

TEST(StageWatchDeathTest, steps_in_time_go_on_and_outside_of_stages_time_does_not_count) {
  EXPECT_EXIT(
      {
        StageWatch watch(0.5);
        watch.enter({.name = "writing"});
        for (int i = 0; i < 8; ++i) {
          std::this_thread::sleep_for(200ms);
          watch.step();
        }
        watch.leave();
        sleep_and_leave(1s);
      },
      testing::ExitedWithCode(42), "");
}

TEST(StageWatchDeathTest, a_stage_that_is_under_way_at_a_sigterm_ends_soon) {
  EXPECT_EXIT(
      {
        note_stop_signals();
        StageWatch watch(20, 0.4);
        watch.enter({.name = "writing", .status = ExitStatus::incomplete});
        std::raise(SIGTERM);
        sleep_and_leave(10s);
      },
      testing::ExitedWithCode(3), "writing was to end by SIGTERM");
}

// A job that ends half a minute after a SIGTERM is written all the same, if SIGKILL has not come.
TEST(StageWatchDeathTest, a_stage_that_begins_after_a_sigterm_has_its_time) {
  EXPECT_EXIT(
      {
        note_stop_signals();
        StageWatch watch(20, 0.8);
        std::raise(SIGTERM);
        std::this_thread::sleep_for(1500ms);
        watch.enter({.name = "writing"});
        sleep_and_leave(500ms);
      },
      testing::ExitedWithCode(42), "");
}

// Else it would destroy what the rescue uses.
TEST(StageWatchDeathTest, who_goes_on_while_the_rescue_works_waits_for_the_end) {
  EXPECT_EXIT(
      {
        StageWatch watch(0.3);
        const auto rescue = [] {
          std::this_thread::sleep_for(1500ms);
          return ExitStatus::verdict;
        };
        watch.enter({.name = "writing", .rescue = rescue});
        std::this_thread::sleep_for(1s);
        watch.leave();
        sleep_and_leave(0ms);
      },
      testing::ExitedWithCode(4), "");
}

}  // namespace
}  // namespace sonde
