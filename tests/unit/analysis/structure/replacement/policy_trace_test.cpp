// Which lines of a set chases access.
#include "analysis/structure/replacement/policy_trace.hpp"

#include <gtest/gtest.h>

namespace sonde {
namespace {

using Addresses = std::vector<std::uint64_t>;

TEST(PolicyTraceTest, lines_to_access_lie_farther_apart_than_streams_reach) {
  Addresses addresses;
  for (std::uint64_t i = 0; i < 64; ++i) addresses.push_back(i * 11 % 64 * 16384);

  const Addresses chosen = choose_far_apart(addresses, 12);

  ASSERT_EQ(chosen.size(), 12U);
  for (std::uint64_t one : chosen) {
    for (std::uint64_t other : chosen) {
      EXPECT_TRUE(one == other || std::max(one, other) - std::min(one, other) >= 65536);
    }
  }
}

TEST(PolicyTraceTest, lines_that_are_few_are_taken_however_close) {
  EXPECT_EQ(choose_far_apart({0, 128, 256, 4096}, 4), (Addresses{0, 128, 256, 4096}));
  EXPECT_EQ(choose_far_apart({0, 128}, 4), (Addresses{0, 128}));
}

}  // namespace
}  // namespace sonde
