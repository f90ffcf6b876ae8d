#include "fleet/turns.hpp"

#include "support/random_run.hpp"

#include <gmock/gmock.h>

#include <chrono>
#include <functional>
#include <mutex>
#include <numeric>
#include <stdexcept>
#include <thread>

namespace sonde {
namespace {

using namespace std::chrono_literals;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

using Clock = std::chrono::steady_clock;

/// Long for what a rank does that is well, short for a test.
constexpr TurnLimits patient{.ready_s = 20, .start_s = 20, .turn_s = 20};
constexpr TurnLimits impatient{.ready_s = 0.4, .start_s = 0.4, .turn_s = 0.4};

/// Ranks of a node as threads; each has its own Turns.
class TurnsTest : public testing::Test {
 protected:
  TurnsTest() { clear_turns(folder_.path()); }

  Turns turns(int rank, int ranks, const TurnLimits& limits, Lookout watch = {}) const {
    std::vector<int> all(static_cast<std::size_t>(ranks));
    std::iota(all.begin(), all.end(), 0);
    return Turns(folder_.path(), "links", all, rank, limits, std::move(watch));
  }
  void leave(int rank) const { leave_turns(folder_.path(), "links", rank); }
  /// All ranks but `without` at the same time.
  void together(int ranks, int without, const TurnLimits& limits,
                const std::function<void(int, Turns&)>& rank_does) const {
    std::vector<std::jthread> threads;
    for (int rank = 0; rank < ranks; ++rank) {
      if (rank == without) continue;
      threads.emplace_back([this, rank, ranks, &limits, &rank_does] {
        Turns own = turns(rank, ranks, limits);
        rank_does(rank, own);
      });
    }
  }

  test::TemporaryFolder folder_;
};

constexpr int nobody = -1;

TEST_F(TurnsTest, when_all_are_ready_turns_follow_each_other_in_the_order_of_ranks) {
  std::mutex mutex;
  std::vector<int> order;
  int at_work = 0;
  together(4, nobody, patient, [&](int rank, Turns& turns) {
    std::this_thread::sleep_for((3 - rank) * 30ms);  // the last one is ready first
    EXPECT_EQ(turns.begin(), "");
    {
      const std::lock_guard lock(mutex);
      order.push_back(rank);
      EXPECT_EQ(++at_work, 1);
    }
    std::this_thread::sleep_for(20ms);
    {
      const std::lock_guard lock(mutex);
      --at_work;
    }
    EXPECT_EQ(turns.end(), "");
  });
  EXPECT_THAT(order, ElementsAre(0, 1, 2, 3));
}

TEST_F(TurnsTest, who_never_comes_is_passed_over_and_hears_of_it) {
  const auto start = Clock::now();
  together(3, 1, impatient, [](int, Turns& turns) {
    EXPECT_EQ(turns.begin(), "");
    EXPECT_EQ(turns.end(), "");
    EXPECT_THAT(turns.meet().refusal, HasSubstr("rank 1"));
  });
  EXPECT_LT(Clock::now() - start, 5s);
  EXPECT_THAT(turns(1, 3, impatient).begin(), HasSubstr("too late"));
}

TEST_F(TurnsTest, nobody_waits_for_a_rank_that_left) {
  leave(1);
  const auto start = Clock::now();
  together(3, 1, patient, [](int, Turns& turns) {
    EXPECT_EQ(turns.begin(), "");
    EXPECT_EQ(turns.end(), "");
    EXPECT_THAT(turns.meet().refusal, HasSubstr("rank 1"));
    EXPECT_THAT(turns.compare({100, 200}).refusal, HasSubstr("rank 1"));
  });
  EXPECT_LT(Clock::now() - start, 5s);
}

TEST_F(TurnsTest, a_rank_that_leaves_in_its_turn_ends_it) {
  const auto start = Clock::now();
  together(2, nobody, patient, [this](int rank, Turns& turns) {
    EXPECT_EQ(turns.begin(), "");
    if (rank == 0) return leave(0);
    EXPECT_EQ(turns.end(), "");
    EXPECT_THAT(turns.meet().refusal, HasSubstr("rank 0"));
  });
  EXPECT_LT(Clock::now() - start, 5s);
}

TEST_F(TurnsTest, a_turn_that_takes_too_long_does_not_count) {
  together(2, nobody, impatient, [](int rank, Turns& turns) {
    EXPECT_EQ(turns.begin(), "");
    if (rank == 0) {
      std::this_thread::sleep_for(1500ms);
      EXPECT_THAT(turns.end(), HasSubstr("took too long"));
    } else {
      EXPECT_EQ(turns.end(), "");
    }
  });
}

TEST_F(TurnsTest, silence_ends_the_waiting_before_the_limit) {
  TurnLimits limits = patient;
  limits.silence_s = 0.3;
  const auto start = Clock::now();
  Turns own = turns(0, 2, limits, {.sign_of_life = [](int) { return 7; }});
  EXPECT_EQ(own.begin(), "");
  EXPECT_LT(Clock::now() - start, 5s);
}

TEST_F(TurnsTest, signs_of_life_keep_the_others_waiting) {
  TurnLimits limits = patient;
  limits.silence_s = 0.3;
  std::jthread late([this] {
    std::this_thread::sleep_for(1s);
    EXPECT_EQ(turns(1, 2, patient).begin(), "");
  });
  std::uint64_t beat = 0;
  Turns own = turns(0, 2, limits, {.sign_of_life = [&beat](int) { return ++beat; }});
  EXPECT_EQ(own.begin(), "");
  EXPECT_EQ(own.end(), "");
}

TEST_F(TurnsTest, who_waits_can_be_stopped) {
  Turns own =
      turns(0, 2, patient, {.on_poll = [] { throw std::runtime_error("stopped by a signal"); }});
  EXPECT_THROW(own.begin(), std::runtime_error);
}

TEST_F(TurnsTest, all_agree_on_an_instant_that_is_still_to_come) {
  std::mutex mutex;
  std::vector<std::int64_t> instants;
  together(3, nobody, patient, [&](int, Turns& turns) {
    turns.begin();
    turns.end();
    const Appointment meeting = turns.meet();
    EXPECT_EQ(meeting.refusal, "");
    EXPECT_GT(std::chrono::sys_time<std::chrono::nanoseconds>(
                  std::chrono::nanoseconds(meeting.begin_unix_ns)),
              std::chrono::system_clock::now());
    const std::lock_guard lock(mutex);
    instants.push_back(meeting.begin_unix_ns);
  });
  ASSERT_EQ(instants.size(), 3u);
  EXPECT_EQ(instants[0], instants[1]);
  EXPECT_EQ(instants[1], instants[2]);
}

TEST_F(TurnsTest, spans_have_their_common_part_or_none) {
  const auto compare = [this](const std::vector<TimeSpan>& spans, auto check) {
    clear_turns(folder_.path());
    together(static_cast<int>(spans.size()), nobody, patient, [&](int rank, Turns& turns) {
      check(turns.compare(spans[static_cast<std::size_t>(rank)]));
    });
  };
  compare({{100, 200}, {120, 220}, {90, 190}}, [](const Overlap& common) {
    EXPECT_EQ(common.refusal, "");
    EXPECT_EQ(common.span.begin_unix_ns, 120);
    EXPECT_EQ(common.span.end_unix_ns, 190);
  });
  compare({{100, 200}, {200, 300}}, [](const Overlap& common) {
    EXPECT_THAT(common.refusal, HasSubstr("not at work at the same time"));
  });
}

TEST_F(TurnsTest, jobs_and_runs_have_turns_of_their_own) {
  leave(0);
  Turns other(folder_.path(), "others", {0}, 0, patient, {});
  EXPECT_EQ(other.begin(), "");
  EXPECT_NE(turns(0, 1, patient).begin(), "");
  clear_turns(folder_.path());
  EXPECT_EQ(turns(0, 1, patient).begin(), "");
}

TEST_F(TurnsTest, nothing_takes_longer_than_is_said) {
  // Nobody else ever comes: each of the waits of one rank ends at its limit.
  const auto start = Clock::now();
  Turns own = turns(2, 3, impatient);
  EXPECT_EQ(own.begin(), "");
  EXPECT_EQ(own.end(), "");
  EXPECT_NE(own.meet().refusal, "");
  EXPECT_NE(own.compare({1, 2}).refusal, "");
  EXPECT_LT(Clock::now() - start,
            std::chrono::duration<double>(longest_turns_s(impatient, 3)) + 2s);
}

}  // namespace
}  // namespace sonde
