// Draws of places: inside the memory, aligned, and other ones for other places.
#include "device/layout/buffer_place.hpp"

#include <gtest/gtest.h>

#include <set>

namespace sonde::layout {
namespace {

constexpr std::uint64_t mib = 1 << 20;

TEST(BufferPlaceTest, of_one_number_stays_where_it_is) {
  EXPECT_EQ(place_buffer(7, 3, 100 * mib, 100'000 * mib),
            place_buffer(7, 3, 100 * mib, 100'000 * mib));
}

TEST(BufferPlaceTest, of_other_numbers_lies_elsewhere) {
  std::set<std::uint64_t> offsets;
  for (Place place = 0; place < 32; ++place) {
    offsets.insert(place_buffer(1, place, 100 * mib, 140'000 * mib).value());
  }
  EXPECT_GT(offsets.size(), 25u);  // of 273 that there are
}

TEST(BufferPlaceTest, of_another_seed_lies_elsewhere) {
  int equal = 0;
  for (Place place = 0; place < 32; ++place) {
    equal +=
        place_buffer(1, place, mib, 140'000 * mib) == place_buffer(2, place, mib, 140'000 * mib);
  }
  EXPECT_LT(equal, 4);
}

TEST(BufferPlaceTest, is_aligned_and_inside) {
  for (const std::uint64_t buffer_bytes : {mib, 700 * mib, 9'000 * mib, 138'000 * mib}) {
    for (Place place = 0; place < 20; ++place) {
      const auto offset = place_buffer(5, place, buffer_bytes, 140'000 * mib);
      ASSERT_TRUE(offset);
      EXPECT_LE(*offset + buffer_bytes, 140'000 * mib);
      EXPECT_EQ(*offset % (buffer_bytes < 130'000 * mib ? 512 * mib : 2 * mib), 0u);
    }
  }
}

TEST(BufferPlaceTest, a_buffer_of_all_memory_begins_with_it) {
  EXPECT_EQ(place_buffer(5, 9, 4096 * mib, 4096 * mib), 0u);
}

TEST(BufferPlaceTest, a_larger_one_has_none) {
  EXPECT_EQ(place_buffer(5, 9, 4097 * mib, 4096 * mib), std::nullopt);
}

}  // namespace
}  // namespace sonde::layout
