#include "fleet/rendezvous.hpp"

#include "mpi/mpi_test.hpp"

#include <chrono>
#include <thread>

namespace sonde {
namespace {

using Clock = std::chrono::steady_clock;
using RendezvousTest = test::MpiTest;

double seconds_since(Clock::time_point start) {
  return std::chrono::duration<double>(Clock::now() - start).count();
}

void sleep_s(double seconds) {
  std::this_thread::sleep_for(std::chrono::duration<double>(seconds));
}

TEST_F(RendezvousTest, rank_0_may_come_last_and_waiting_ranks_may_show_life_themselves) {
  int polls = 0;
  if (rank_ == 0) sleep_s(1);

  EXPECT_TRUE(rendezvous(comm_, {0.5, 40}, {.on_poll = [&polls] { ++polls; }}).complete());

  EXPECT_TRUE(rank_ == 0 || polls > 2);
}

TEST_F(RendezvousTest, a_silent_rank_0_is_lost_to_the_others) {
  if (size_ == 1) GTEST_SKIP() << "needs another rank";
  if (rank_ == 0) sleep_s(3);

  const Attendance attendance =
      rendezvous(comm_, {1, 40}, {.sign_of_life = [](int) { return std::uint64_t{7}; }});

  if (rank_ != 0) {
    EXPECT_EQ(attendance.lost, std::vector{0});
  }
}

TEST_F(RendezvousTest, a_text_of_rank_0_reaches_all) {
  if (rank_ == 0) sleep_s(0.3);

  EXPECT_EQ(hear_from_root(comm_, rank_ == 0 ? "all" : "", {20, 40}), "all");
}

TEST_F(RendezvousTest, no_text_comes_from_a_silent_rank_0) {
  if (size_ == 1) GTEST_SKIP() << "needs another rank";
  if (rank_ == 0) sleep_s(3);

  const auto text =
      hear_from_root(comm_, "all", {1, 40}, {.sign_of_life = [](int) { return std::uint64_t{7}; }});

  EXPECT_EQ(text.has_value(), rank_ == 0);
}

TEST_F(RendezvousTest, a_slow_rank_that_shows_life_is_waited_for) {
  const int slow = size_ - 1;
  if (rank_ == slow && size_ > 1) sleep_s(3);
  std::uint64_t beats = 0;

  const Attendance attendance =
      rendezvous(comm_, {1.5, 40}, {.sign_of_life = [&beats](int) { return ++beats; }});

  EXPECT_TRUE(attendance.complete());
}

TEST_F(RendezvousTest, a_silent_rank_is_lost_in_bounded_time_and_learns_it_later) {
  if (size_ == 1) GTEST_SKIP() << "needs another rank";
  const int silent = size_ - 1;
  if (rank_ == silent) sleep_s(4);
  const auto start = Clock::now();

  std::uint64_t beats = 0;
  const auto only_rank_0_lives = [&beats](int rank) { return rank == 0 ? ++beats : 7; };

  const Attendance attendance = rendezvous(comm_, {1, 40}, {.sign_of_life = only_rank_0_lives});

  EXPECT_EQ(attendance.lost, std::vector{silent});
  EXPECT_LT(seconds_since(start), 3.5);
}

TEST_F(RendezvousTest, the_total_bounds_even_a_rank_that_shows_life) {
  if (size_ == 1) GTEST_SKIP() << "needs another rank";
  const int endless = size_ - 1;
  if (rank_ == endless) sleep_s(4);
  std::uint64_t beats = 0;

  const Attendance attendance =
      rendezvous(comm_, {10, 1.5}, {.sign_of_life = [&beats](int) { return ++beats; }});

  EXPECT_EQ(attendance.lost, std::vector{endless});
}

}  // namespace
}  // namespace sonde
