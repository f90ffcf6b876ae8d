// The search for an bound finds it exactly, asks little, and says when there is none.
#include "analysis/structure/capacity/capacity_search.hpp"

#include <gtest/gtest.h>

namespace sonde {
namespace {

struct Oracle {
  std::uint64_t size_bytes = 0;
  int questions = 0;
  Fit operator()(std::uint64_t bytes) {
    ++questions;
    return bytes <= size_bytes ? Fit::fits : Fit::overflows;
  }
};

CapacityBound search(Oracle& oracle, const CapacityLimits& limits) {
  return find_capacity_bound(limits, [&](std::uint64_t bytes) { return oracle(bytes); });
}

TEST(CapacitySearchTest, finds_the_last_footprint_that_fits) {
  for (std::uint64_t size : {128u, 4096u, 16384u, 24576u, 745472u, 786432u}) {
    Oracle oracle{size};

    const CapacityBound bound = search(oracle, {32, 1024, 1 << 22, 0});

    EXPECT_EQ(bound.fitting_bytes, size);
    EXPECT_EQ(bound.overflowing_bytes, size + 32);
    EXPECT_LT(oracle.questions, 40);
  }
}

TEST(CapacitySearchTest, says_that_nothing_overflows) {
  Oracle oracle{1 << 30};

  const CapacityBound bound = search(oracle, {128, 1024, 1 << 20, 0});

  EXPECT_EQ(bound.fitting_bytes, 1U << 20);
  EXPECT_EQ(bound.overflowing_bytes, 0U);
}

TEST(CapacitySearchTest, says_that_nothing_fits) {
  Oracle oracle{0};

  const CapacityBound bound = search(oracle, {128, 1024, 1 << 20, 0});

  EXPECT_EQ(bound.fitting_bytes, 0U);
  EXPECT_EQ(bound.overflowing_bytes, 128U);
}

TEST(CapacitySearchTest, a_bound_near_the_one_seen_takes_few_questions) {
  for (std::uint64_t size : {8000u, 8192u, 8224u, 6400u, 12800u, 320u, 40960u}) {
    Oracle oracle{size};

    const CapacityBound bound =
        find_capacity_bound_near({.step_bytes = 32, .limit_bytes = 1 << 20}, {8192, 8256},
                                 [&](std::uint64_t bytes) { return oracle(bytes); });

    EXPECT_EQ(bound.fitting_bytes, size);
    EXPECT_EQ(bound.overflowing_bytes, size + 32);
    EXPECT_LT(oracle.questions, size > 8000 && size < 9000 ? 4 : 24);
  }
}

}  // namespace
}  // namespace sonde
