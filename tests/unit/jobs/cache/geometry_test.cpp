// What the bounds of footprints allow of a size.
#include "jobs/cache/geometry.hpp"

#include <gtest/gtest.h>

namespace sonde {
namespace {

/// A memory-side cache of 8 MiB: chance filled its sets, the first of them at 4.6 MiB.
TEST(GeometryTest, what_loses_half_of_a_footprint_may_hold_all_of_its_half) {
  CacheGeometry geometry;
  geometry.bound = {4 << 20, 5 << 20};
  geometry.gradual = true;
  geometry.line_bytes = 64;
  geometry.half_lost_bytes = 10 << 20;
  geometry.part_range = {10.0 * (1 << 20), 10.25 * (1 << 20)};
  geometry.first_miss_range = {4.6 * (1 << 20), 5.0 * (1 << 20)};

  EXPECT_EQ(geometry.part_bytes(), 10U << 20);
  ASSERT_TRUE(geometry.part_interval());
  EXPECT_EQ(geometry.part_interval()->low, 5.0 * (1 << 20));
  EXPECT_EQ(geometry.part_interval()->high, 10.25 * (1 << 20));

  geometry.first_miss_range = {7.0 * (1 << 20), 7.5 * (1 << 20)};
  EXPECT_EQ(geometry.part_interval()->low, 7.0 * (1 << 20)) << "the first lines were lost later";
}

}  // namespace
}  // namespace sonde
