// Draws of places: inside the memory, aligned, and other ones for other places.
#include "device/layout/buffer_place.hpp"

#include "base/units.hpp"

#include <gtest/gtest.h>

#include <set>

namespace sonde::layout {
namespace {

TEST(BufferPlaceTest, of_other_numbers_or_seeds_lies_elsewhere_and_of_the_same_does_not) {
  const auto draw = [](std::uint64_t seed, Place place) {
    return place_buffer(seed, place, 100_MiB, 140'000_MiB).value();
  };
  std::set<std::uint64_t> offsets;
  int equal = 0;
  for (Place place = 0; place < 32; ++place) {
    offsets.insert(draw(1, place));
    equal += draw(1, place) == draw(2, place);
    EXPECT_EQ(draw(1, place), draw(1, place));
  }
  EXPECT_GT(offsets.size(), 25u);  // of 273 that there are
  EXPECT_LT(equal, 4);
}

TEST(BufferPlaceTest, is_aligned_and_inside) {
  for (const std::uint64_t buffer_bytes : {1_MiB, 700_MiB, 9'000_MiB, 138'000_MiB}) {
    for (Place place = 0; place < 20; ++place) {
      const auto offset = place_buffer(5, place, buffer_bytes, 140'000_MiB);
      ASSERT_TRUE(offset);
      EXPECT_LE(*offset + buffer_bytes, 140'000_MiB);
      EXPECT_EQ(*offset % (buffer_bytes < 130'000_MiB ? 512_MiB : 2_MiB), 0u);
    }
  }
}

TEST(BufferPlaceTest, a_buffer_of_all_memory_begins_with_it_and_a_larger_one_has_none) {
  EXPECT_EQ(place_buffer(5, 9, 4096_MiB, 4096_MiB), 0u);
  EXPECT_EQ(place_buffer(5, 9, 4097_MiB, 4096_MiB), std::nullopt);
}

}  // namespace
}  // namespace sonde::layout
