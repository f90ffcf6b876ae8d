#include "device/probe/offset_list.hpp"

#include "base/error.hpp"

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

namespace sonde {
namespace {

OffsetShape shape(std::vector<std::uint64_t> offsets) { return shape_of(offsets, 8); }

TEST(OffsetListTest, order_and_repeats_do_not_change_what_is_spanned) {
  const OffsetShape seen = shape({512, 128, 384, 256, 128});

  EXPECT_EQ(seen.footprint_bytes, 384u + 8);
  EXPECT_EQ(seen.distinct_offsets, 4u);
  EXPECT_EQ(seen.steps, 5u);
  EXPECT_EQ(seen.stride_bytes, 128u);
}

TEST(OffsetListTest, a_gap_leaves_no_stride) {
  const OffsetShape seen = shape({0, 128, 384});

  EXPECT_EQ(seen.distinct_offsets, 3u);
  EXPECT_EQ(seen.stride_bytes, std::nullopt);
  EXPECT_EQ(shape({0, 64, 96, 128}).stride_bytes, std::nullopt) << "steps of two sizes";
  EXPECT_EQ(shape({0, 8, 16, 24, 32, 48}).stride_bytes, std::nullopt) << "on a grid, one missing";
  EXPECT_EQ(shape({0, 24, 48, 72}).stride_bytes, 24u) << "not a power of two";
}

TEST(OffsetListTest, a_single_offset_has_no_stride) {
  EXPECT_EQ(shape({4096, 4096}), (OffsetShape{8, 1, 2, std::nullopt}));
  EXPECT_THROW(shape({}), Error);
}

TEST(OffsetListTest, offsets_far_apart_are_counted_without_a_bit_for_each_place) {
  constexpr std::uint64_t far = std::uint64_t{1} << 40;  // a bit for each place would be 16 GiB

  const OffsetShape seen = shape({far, 0, far + 8, far, 8});

  EXPECT_EQ(seen.distinct_offsets, 4u);
  EXPECT_EQ(seen.footprint_bytes, far + 16);
  EXPECT_EQ(shape({0, far, 2 * far}).stride_bytes, far);
}

}  // namespace
}  // namespace sonde
