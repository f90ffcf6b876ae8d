// Patterns P1 to P6 from samples by phase: values of the papers go in, and which of them exist
// comes out.
#include "analysis/structure/latency/latency_patterns.hpp"

#include <gtest/gtest.h>

namespace sonde {
namespace {

std::vector<double> around(double cycles, std::size_t count = 24) {
  std::vector<double> values;
  for (std::size_t i = 0; i < count; ++i) values.push_back(cycles + static_cast<double>(i % 3) - 1);
  return values;
}

const PatternFinding& of(const std::array<PatternFinding, pattern_count>& found, Pattern pattern) {
  return found[static_cast<std::size_t>(pattern)];
}

/// Set duelling: of half as many pages again as the last level has entries more than half stay
/// there.
TEST(LatencyPatternsTest, pages_that_a_level_kept_show_no_miss_of_it) {
  std::vector<double> p3 = around(252, 28);
  const std::vector<double> misses = around(341, 20);
  p3.insert(p3.end(), misses.begin(), misses.end());
  const KnownTlb known{.exists = true,
                       .first_miss_cycles = 9,
                       .last_miss_cycles = 98,
                       .has_outer_level = true,
                       .ends = true};

  const auto found =
      infer_patterns({around(243), around(252), p3, around(504), around(1378), {}}, 3, known);

  EXPECT_EQ(of(found, Pattern::p2).cycles, 252);
  EXPECT_EQ(of(found, Pattern::p3).cycles, 243 + 98);
}

/// The largest group may be the far one of P1 and the near one of P2.
TEST(LatencyPatternsTest, hits_of_two_partitions_are_compared_as_a_whole) {
  const auto divided = [](double near_cycles, std::size_t near, std::size_t far) {
    std::vector<double> both = around(near_cycles, near);
    const std::vector<double> distant = around(near_cycles + 119, far);
    both.insert(both.end(), distant.begin(), distant.end());
    return both;
  };
  const auto found = infer_patterns({divided(320, 21, 27),
                                     divided(438, 27, 21),
                                     divided(487, 24, 24),
                                     around(661),
                                     around(1756),
                                     {}},
                                    3, {.exists = true});

  EXPECT_NEAR(of(found, Pattern::p1).cycles, 320 + 119 / 2, 10);
  EXPECT_NEAR(of(found, Pattern::p2).cycles, 438 + 119 / 2, 10);
  EXPECT_EQ(of(found, Pattern::p3).status, Status::ok);
}

/// A miss of both levels costs 113 cycles, and one of the cache 350.
TEST(LatencyPatternsTest, lines_that_the_cache_lost_are_no_p3) {
  const KnownTlb tlb{.exists = true, .first_miss_cycles = 37, .last_miss_cycles = 113};

  const auto found = infer_patterns(
      {around(292), around(330), around(755), around(642), around(1500), {}}, 3, tlb);

  EXPECT_EQ(of(found, Pattern::p2).cycles, 330);
  EXPECT_EQ(of(found, Pattern::p3).status, Status::not_resolvable);
}

TEST(LatencyPatternsTest, the_near_side_of_a_memory_with_two_is_the_value) {
  std::vector<double> p4 = around(600, 20);
  const std::vector<double> far = around(750, 12);
  p4.insert(p4.end(), far.begin(), far.end());

  const auto found = infer_patterns({around(263), {}, {}, p4, around(1500), {}}, 3);

  EXPECT_NEAR(of(found, Pattern::p4).cycles, 600, 1);
  EXPECT_NE(of(found, Pattern::p4).reason.find("750"), std::string::npos);
}

/// The cache keeps too few lines for a phase of P2 or P3.
TEST(LatencyPatternsTest, hits_and_misses_that_were_measured_apart_are_put_together) {
  KnownTlb tlb{.exists = true,
               .first_miss_cycles = 42,
               .last_miss_cycles = 124,
               .has_outer_level = true,
               .ends = true,
               .translated_cycles = 200};
  const PatternLatencies seen{around(268), {}, {}, around(500), around(967), {}};

  auto found = infer_patterns(seen, 3, tlb);

  EXPECT_EQ(of(found, Pattern::p2).cycles, 268 + 42);
  EXPECT_EQ(of(found, Pattern::p3).cycles, 268 + 124);
  EXPECT_TRUE(of(found, Pattern::p3).is_of_parts);
  EXPECT_LT(of(found, Pattern::p3).confidence, 1);

  tlb.ends = false;
  found = infer_patterns(seen, 3, tlb);
  EXPECT_EQ(of(found, Pattern::p3).status, Status::not_resolvable);

  // Nobody knows whether hits of a first cache wait for translations.
  tlb.ends = true;
  tlb.translated_cycles = 300;
  found = infer_patterns(seen, 3, tlb);
  EXPECT_EQ(of(found, Pattern::p2).status, Status::not_resolvable);
  EXPECT_EQ(of(found, Pattern::p3).status, Status::not_resolvable);
}

}  // namespace
}  // namespace sonde
