// A toy L2: each line has a slice, and what co-runners do to its loads is played with noise.
#include "analysis/structure/index/slice_labels.hpp"

#include "analysis/structure/index/slice_function.hpp"
#include "base/random.hpp"

#include <gtest/gtest.h>

#include <algorithm>

namespace sonde {
namespace {

struct ToyL2 {
  std::vector<std::uint32_t> slice_of_line;
  double wait_cycles = 400;
  double common_cycles = 0;  // that all lines wait
  double noise_cycles = 3;
  Random random{7};

  double noise() { return noise_cycles * (random.unit() - 0.5); }
  std::vector<double> alone() {
    std::vector<double> latencies;
    for (std::size_t line = 0; line < slice_of_line.size(); ++line) {
      latencies.push_back(300 + noise());
    }
    return latencies;
  }
  ContendedLatencies contended() {
    return [this](const std::vector<std::size_t>& lines, std::size_t own) {
      std::vector<double> latencies;
      for (const std::size_t line : lines) {
        const bool waits = slice_of_line[line] == slice_of_line[own];
        latencies.push_back(300 + common_cycles + (waits ? wait_cycles : 0) + noise());
      }
      return latencies;
    };
  }
};

ToyL2 draw_l2(std::uint32_t slices, std::size_t lines) {
  ToyL2 l2;
  Random random(slices);
  for (std::size_t line = 0; line < lines; ++line) {
    l2.slice_of_line.push_back(static_cast<std::uint32_t>(random.below(slices)));
  }
  return l2;
}

TEST(SliceLabelsTest, lines_of_a_slice_may_wait_for_several_rounds_of_its_queue) {
  std::vector<double> alone(100, 300.0);
  std::vector<double> contended(100, 304.0);
  for (std::size_t line = 0; line < 20; ++line) {
    contended[line] = 700 + 40 * static_cast<double>(line);  // 400 to 1160 longer
  }
  for (const std::size_t own : {0U, 10U, 19U}) {
    const WaitingLines waiting = find_waiting_lines(alone, contended, own);
    EXPECT_TRUE(waiting.is_clear);
    EXPECT_EQ(std::ranges::count(waiting.waits, true), 20) << own;
  }
}

TEST(SliceLabelsTest, many_such_lines_mean_that_there_are_no_slices) {
  ToyL2 l2 = draw_l2(8, 4096);
  for (std::uint32_t line = 0; line < 60; ++line) l2.slice_of_line[line * 7] = 8 + line;

  const SliceLabels found = label_lines(l2.alone(), l2.contended());

  EXPECT_EQ(found.slices, 0u);
  EXPECT_NE(found.reason.find("60 of 4096"), std::string::npos) << found.reason;
}

}  // namespace
}  // namespace sonde
