#include "analysis/peer_links.hpp"

#include "base/random.hpp"

#include <gtest/gtest.h>

#include <limits>

namespace sonde {
namespace {

constexpr double none = std::numeric_limits<double>::quiet_NaN();

TEST(PeerLinksTest, too_few_links_say_nothing) {
  EXPECT_TRUE(find_slow_links(std::vector{none, 100.}, 0).empty());
  EXPECT_TRUE(find_slow_links(std::vector{none, 100., 50.}, 0).empty());
  EXPECT_TRUE(find_slow_links(std::vector{none, 100., none, 50.}, 0).empty());
  EXPECT_TRUE(find_slow_links(std::vector<double>{}, 0).empty());
}

TEST(PeerLinksTest, another_way_through_the_node_is_no_slow_link) {
  // PCIe with two sockets: three GPUs near, four far.
  EXPECT_TRUE(find_slow_links(std::vector{none, 25., 25.1, 24.9, 18., 18.1, 18., 17.9}, 0).empty());
  // Pairs behind a switch each: one near, six far.
  EXPECT_TRUE(find_slow_links(std::vector{none, 50., 25.1, 25., 25., 25.1, 25., 24.9}, 0).empty());
}

TEST(PeerLinksTest, noise_and_scatter_hide_a_small_difference) {
  const std::vector rates{100., 100., 100., 95.};
  EXPECT_EQ(find_slow_links(rates, 0.005).size(), 1u);
  EXPECT_TRUE(find_slow_links(rates, 0.01).empty());
  EXPECT_TRUE(find_slow_links(std::vector{100., 102., 98., 95.}, 0).empty());
}

TEST(PeerLinksTest, healthy_links_of_a_switch_are_never_named) {
  Random random(5);
  for (int trial = 0; trial < 10'000; ++trial) {
    std::vector<double> rates(3 + static_cast<std::size_t>(random.below(5)));
    for (double& rate : rates) rate = 390 * (1 + 0.004 * (random.unit() - 0.5));
    EXPECT_TRUE(find_slow_links(rates, 0.001).empty());
  }
}

}  // namespace
}  // namespace sonde
