// The block of texels that one miss brings.
#include "analysis/structure/capacity/miss_blocks.hpp"

#include <gtest/gtest.h>

namespace sonde {
namespace {

TexelMisses corners_of(std::size_t rows, std::size_t columns) {
  TexelMisses access{.rows = 16, .columns = 32, .missed = {}};
  for (std::size_t row = 0; row < access.rows; ++row) {
    for (std::size_t column = 0; column < access.columns; ++column) {
      access.missed.push_back(row % rows == rows - 1 && column % columns == columns - 1);
    }
  }
  return access;
}

TEST(TexelBlockTest, bears_a_few_slow_hits) {
  TexelMisses access = corners_of(2, 2);
  access.missed[0] = true;
  access.missed[100] = !access.missed[100];

  const auto block = find_texel_block(access);

  ASSERT_TRUE(block);
  EXPECT_EQ(block->rows, 2U);
  EXPECT_EQ(block->columns, 2U);
  EXPECT_LT(block->agreement, 1);
}

TEST(TexelBlockTest, sees_nothing_where_misses_form_no_rectangles) {
  TexelMisses access = corners_of(1, 1);
  for (std::size_t i = 0; i < access.missed.size(); ++i) access.missed[i] = i % 3 == 0;
  EXPECT_FALSE(find_texel_block(access));

  access.missed.assign(access.missed.size(), false);
  access.missed.back() = true;
  EXPECT_FALSE(find_texel_block(access));
}

}  // namespace
}  // namespace sonde
