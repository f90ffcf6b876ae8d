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

TEST_F(RendezvousTest, all_come) {
  int polls = 0;

  const Attendance attendance = rendezvous(comm_, {20, 40}, {}, [&polls] { ++polls; });

  EXPECT_TRUE(attendance.complete());
  EXPECT_TRUE(rank_ == 0 || polls == 0);
}

TEST_F(RendezvousTest, rank_0_may_come_last) {
  if (rank_ == 0) sleep_s(1);

  EXPECT_TRUE(rendezvous(comm_, {0.5, 40}).complete());
}

TEST_F(RendezvousTest, a_slow_rank_that_shows_life_is_waited_for) {
  const int slow = size_ - 1;
  if (rank_ == slow && size_ > 1) sleep_s(3);
  std::uint64_t beats = 0;

  const Attendance attendance = rendezvous(comm_, {1.5, 40}, [&beats](int) { return ++beats; });

  EXPECT_TRUE(attendance.complete());
}

TEST_F(RendezvousTest, a_silent_rank_is_lost_in_bounded_time_and_learns_it_later) {
  if (size_ == 1) GTEST_SKIP() << "needs another rank";
  const int silent = size_ - 1;
  if (rank_ == silent) sleep_s(4);
  const auto start = Clock::now();

  const Attendance attendance = rendezvous(comm_, {1, 40}, [](int) { return std::uint64_t{7}; });

  EXPECT_EQ(attendance.lost, std::vector{silent});
  EXPECT_LT(seconds_since(start), 3.5);
}

TEST_F(RendezvousTest, the_total_bounds_even_a_rank_that_shows_life) {
  if (size_ == 1) GTEST_SKIP() << "needs another rank";
  const int endless = size_ - 1;
  if (rank_ == endless) sleep_s(4);
  std::uint64_t beats = 0;

  const Attendance attendance = rendezvous(comm_, {10, 1.5}, [&beats](int) { return ++beats; });

  EXPECT_EQ(attendance.lost, std::vector{endless});
}

}  // namespace
}  // namespace sonde
