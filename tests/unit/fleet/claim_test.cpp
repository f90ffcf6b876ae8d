#include "fleet/assign.hpp"

#include "support/random_run.hpp"

#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <thread>
#include <vector>

namespace sonde {
namespace {

using namespace std::chrono_literals;

constexpr Patience brief{.silence_s = 0.5};

TEST(ClaimTest, one_of_many_does_it_and_all_learn_the_result) {
  const test::TemporaryFolder folder;
  std::atomic<int> done = 0;
  std::atomic<int> right = 0;
  std::atomic<std::uint64_t> beat = 0;
  std::vector<std::jthread> ranks;
  for (int rank = 0; rank < 6; ++rank) {
    ranks.emplace_back([&, rank] {
      const ExitStatus status = do_once(folder.path(), rank,
                                        [&done] {
                                          std::this_thread::sleep_for(1s);
                                          ++done;
                                          return ExitStatus::incomplete;
                                        },
                                        brief, {.sign_of_life = [&beat](int) { return ++beat; }});
      if (status == ExitStatus::incomplete) ++right;
    });
  }
  ranks.clear();

  EXPECT_EQ(done, 1);
  EXPECT_EQ(right, 6);
}

TEST(ClaimTest, another_one_takes_over_from_a_silent_rank) {
  const test::TemporaryFolder folder;
  std::jthread silent([&folder] {
    do_once(folder.path(), 0,
            [] {
              std::this_thread::sleep_for(2s);
              return ExitStatus::error;
            },
            brief, {});
  });
  std::this_thread::sleep_for(100ms);

  const ExitStatus status = do_once(folder.path(), 1, [] { return ExitStatus::incomplete; }, brief,
                                    {.sign_of_life = [](int) { return std::uint64_t{7}; }});

  EXPECT_EQ(status, ExitStatus::incomplete);
}

TEST(ClaimTest, what_was_claimed_in_an_earlier_run_is_cleared) {
  const test::TemporaryFolder folder;
  const auto work = [](ExitStatus status) { return [status] { return status; }; };
  do_once(folder.path(), 0, work(ExitStatus::error), brief, {});

  clear_claims(folder.path());

  EXPECT_EQ(do_once(folder.path(), 3, work(ExitStatus::verdict), brief, {}), ExitStatus::verdict);
}

}  // namespace
}  // namespace sonde
