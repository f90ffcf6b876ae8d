#include "device/sim/cores/first_turn.hpp"

#include "base/random.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <optional>
#include <vector>

namespace sonde::sim {
namespace {

/// By looking at all of them.
class SlowTurns {
 public:
  explicit SlowTurns(std::size_t warps) : times_(warps, 0.0) {}
  std::size_t warp() const {
    const auto earlier = [](const std::optional<double>& a, const std::optional<double>& b) {
      return a && (!b || *a < *b);
    };
    return static_cast<std::size_t>(std::ranges::min_element(times_, earlier) - times_.begin());
  }
  double time() const { return *times_[warp()]; }
  void move_to(double time) { times_[warp()] = time; }
  void remove() { times_[warp()].reset(); }

 private:
  std::vector<std::optional<double>> times_;
};

TEST(FirstTurnTest, nobody_is_first_of_none) { EXPECT_TRUE(FirstTurn(0).is_empty()); }

/// Times in whole steps, so that many are equal.
TEST(FirstTurnTest, all_have_their_turns_in_order_of_time_and_number) {
  Random random(7);
  for (std::size_t warps = 1; warps <= 40; ++warps) {
    FirstTurn first(warps);
    SlowTurns slow(warps);
    for (std::size_t left = warps; left > 0;) {
      ASSERT_FALSE(first.is_empty());
      ASSERT_EQ(first.warp(), slow.warp()) << warps << " warps, " << left << " left";
      if (random.below(5) == 0) {
        first.remove();
        slow.remove();
        --left;
      } else {
        const double time = slow.time() + static_cast<double>(random.below(4));
        first.move_to(time);
        slow.move_to(time);
      }
    }
    EXPECT_TRUE(first.is_empty());
  }
}

}  // namespace
}  // namespace sonde::sim
