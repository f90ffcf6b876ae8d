// The search for an edge finds it exactly, asks little, and says when there is none.
#include "analysis/structure/edge.hpp"

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

Edge search(Oracle& oracle, const EdgeLimits& limits) {
  return find_edge(limits, [&](std::uint64_t bytes) { return oracle(bytes); });
}

TEST(EdgeTest, finds_the_last_footprint_that_fits) {
  for (std::uint64_t size : {128u, 4096u, 16384u, 24576u, 745472u, 786432u}) {
    Oracle oracle{size};

    const Edge edge = search(oracle, {32, 1024, 1 << 22, 0});

    EXPECT_EQ(edge.fitting_bytes, size);
    EXPECT_EQ(edge.overflowing_bytes, size + 32);
    EXPECT_LT(oracle.questions, 40);
  }
}

TEST(EdgeTest, halves_when_the_start_is_too_large) {
  Oracle oracle{96};

  const Edge edge = search(oracle, {32, 1 << 20, 1 << 22, 0});

  EXPECT_EQ(edge.fitting_bytes, 96U);
}

TEST(EdgeTest, says_that_nothing_overflows) {
  Oracle oracle{1 << 30};

  const Edge edge = search(oracle, {128, 1024, 1 << 20, 0});

  EXPECT_EQ(edge.fitting_bytes, 1U << 20);
  EXPECT_EQ(edge.overflowing_bytes, 0U);
}

TEST(EdgeTest, says_that_nothing_fits) {
  Oracle oracle{0};

  const Edge edge = search(oracle, {128, 1024, 1 << 20, 0});

  EXPECT_EQ(edge.fitting_bytes, 0U);
  EXPECT_EQ(edge.overflowing_bytes, 128U);
}

TEST(EdgeTest, stops_at_the_precision_asked_for) {
  Oracle exact{1000000};
  Oracle rough{1000000};

  search(exact, {32, 1024, 1 << 22, 0});
  const Edge edge = search(rough, {32, 1024, 1 << 22, 1.0 / 32});

  EXPECT_LT(rough.questions, exact.questions);
  EXPECT_LE(edge.fitting_bytes, 1000000U);
  EXPECT_GT(edge.overflowing_bytes, 1000000U);
  EXPECT_LE(edge.overflowing_bytes - edge.fitting_bytes, edge.overflowing_bytes / 32);
}

TEST(EdgeTest, soft_sizes_close_to_each_other_round_to_the_same) {
  constexpr std::uint64_t kib = 1024;

  EXPECT_EQ(round_soft_size(241 * kib + 384), 240 * kib);
  EXPECT_EQ(round_soft_size(242 * kib + 128), 240 * kib);
  EXPECT_EQ(round_soft_size(248 * kib), 248 * kib);
  EXPECT_EQ(round_soft_size(5), 5U);
}

}  // namespace
}  // namespace sonde
