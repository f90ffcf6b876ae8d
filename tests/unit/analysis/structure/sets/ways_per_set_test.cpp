// What further chases say of sets that were found: those of lines whose set nobody knows say
// nothing, and are not asked for.
#include "analysis/structure/sets/ways_per_set.hpp"

#include <gtest/gtest.h>

namespace sonde {
namespace {

TEST(CheckWaysTest, asks_no_list_without_lines) {
  const LinePool space{.line_bytes = 128, .span_bytes = 1 << 20, .cached_lines = 64, .seed = 3};
  std::size_t lists_asked = 0;
  const MissOracle ask = [&](std::span<const Lines> lists) {
    lists_asked += lists.size();
    return std::vector<MissCounts>(lists.size());
  };

  const LayoutCheck check = check_ways(
      {4, 4}, [](std::uint64_t) { return std::nullopt; }, space, 64, ask);

  EXPECT_EQ(lists_asked, 0u);
  EXPECT_EQ(check.sets, 0u);
  EXPECT_EQ(check.agreement, 0);
}

}  // namespace
}  // namespace sonde
