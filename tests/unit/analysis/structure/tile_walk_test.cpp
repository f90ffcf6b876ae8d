// The block of texels that one miss brings.
#include "analysis/structure/tile_walk.hpp"

#include <gtest/gtest.h>

namespace sonde {
namespace {

TexelMisses corners_of(std::size_t rows, std::size_t columns) {
  TexelMisses visit{.rows = 16, .columns = 32, .missed = {}};
  for (std::size_t row = 0; row < visit.rows; ++row) {
    for (std::size_t column = 0; column < visit.columns; ++column) {
      visit.missed.push_back(row % rows == rows - 1 && column % columns == columns - 1);
    }
  }
  return visit;
}

TEST(TileWalkTest, finds_rectangles_of_every_shape) {
  for (std::size_t rows : {1U, 2U, 8U}) {
    for (std::size_t columns : {1U, 2U, 16U}) {
      const auto block = find_texel_block(corners_of(rows, columns));
      ASSERT_TRUE(block);
      EXPECT_EQ(block->rows, rows);
      EXPECT_EQ(block->columns, columns);
      EXPECT_EQ(block->agreement, 1);
    }
  }
}

TEST(TileWalkTest, bears_a_few_slow_hits) {
  TexelMisses visit = corners_of(2, 2);
  visit.missed[0] = true;
  visit.missed[100] = !visit.missed[100];

  const auto block = find_texel_block(visit);

  ASSERT_TRUE(block);
  EXPECT_EQ(block->rows, 2U);
  EXPECT_EQ(block->columns, 2U);
  EXPECT_LT(block->agreement, 1);
}

TEST(TileWalkTest, sees_nothing_where_misses_form_no_rectangles) {
  TexelMisses visit = corners_of(1, 1);
  for (std::size_t i = 0; i < visit.missed.size(); ++i) visit.missed[i] = i % 3 == 0;
  EXPECT_FALSE(find_texel_block(visit));

  visit.missed.assign(visit.missed.size(), false);
  visit.missed.back() = true;
  EXPECT_FALSE(find_texel_block(visit));
}

}  // namespace
}  // namespace sonde
