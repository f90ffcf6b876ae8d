// What further chases say of sets that were found.
#include "analysis/structure/sets/layout_check.hpp"
#include "unit/analysis/structure/sets/oracle_of.hpp"

#include <gtest/gtest.h>

namespace sonde {
namespace {

TEST(CheckWaysTest, a_set_that_loses_lines_in_one_order_alone_is_not_overfull) {
  const LinePool space{.line_bytes = 128, .span_bytes = 1 << 20, .cached_lines = 64, .seed = 3};
  std::size_t lists_asked = 0;
  const MissOracle disturbed_at_first = oracle_of([&](const Lines& lines) {
    const std::uint32_t misses = lists_asked++ < 6 ? 3 : 0;
    return MissCounts{std::vector<std::uint32_t>(lines.size(), misses), 3, misses};
  });
  const MissOracle disturbed = oracle_of([](const Lines& lines) {
    return MissCounts{std::vector<std::uint32_t>(lines.size(), 3), 3, 3};
  });
  const SetOfLine one_set = [](std::uint64_t) { return 0; };

  EXPECT_EQ(check_ways({1000}, one_set, space, 64, disturbed_at_first).share(), 1);
  EXPECT_EQ(check_ways({1000}, one_set, space, 64, disturbed).share(), 0);
  EXPECT_EQ(check_ways({4}, one_set, space, 64, disturbed).share(), 1);
}

}  // namespace
}  // namespace sonde
