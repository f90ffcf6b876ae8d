#include "device/layout/place.hpp"

#include "base/units.hpp"

#include <gmock/gmock.h>

namespace sonde::layout {
namespace {

constexpr std::uint64_t base_address = 0x7f0000000000;

TEST(PlaceTest, places_are_addresses_offsets_in_the_bank_or_texels) {
  const std::uint64_t offset_bytes = 3 * texture_row_bytes + 40;
  for (LoadPath path : {LoadPath::all_levels, LoadPath::past_l1, LoadPath::read_only,
                        LoadPath::uncached, LoadPath::atomic}) {
    EXPECT_EQ(place_of(path, base_address, offset_bytes), base_address + offset_bytes);
    EXPECT_TRUE(has_addresses(path)) << to_text(path);
    EXPECT_EQ(script_unit(path, 64), 64u) << to_text(path);
  }
  EXPECT_EQ(place_of(LoadPath::constant, base_address, offset_bytes), offset_bytes);
  EXPECT_EQ(script_unit(LoadPath::constant, 64), 64u);
  EXPECT_EQ(place_of(LoadPath::texture_1d, base_address, offset_bytes), offset_bytes / 8);
  EXPECT_EQ(place_of(LoadPath::texture_2d, base_address, offset_bytes),
            std::uint64_t{3} << 32 | 5u);
  for (LoadPath path : {LoadPath::texture_1d, LoadPath::texture_2d}) {
    EXPECT_EQ(script_unit(path, 64), 8u);
  }
  for (LoadPath path :
       {LoadPath::constant, LoadPath::texture_1d, LoadPath::texture_2d, LoadPath::instruction}) {
    EXPECT_FALSE(has_addresses(path)) << to_text(path);
  }
}

TEST(PlaceTest, words_that_stand_for_each_other_share_a_sector) {
  for (LoadPath path : {LoadPath::all_levels, LoadPath::constant, LoadPath::texture_2d}) {
    const WordLayout layout = word_layout(path);
    const std::vector<ChaseLane> often = {
        {0, std::vector<std::uint64_t>(layout.group_words, 64), {}}};
    const std::vector<ChaseLane> too_often = {
        {0, std::vector<std::uint64_t>(layout.group_words + 1, 64), {}}};

    const auto plan = plan_chains(often, layout);

    ASSERT_TRUE(plan) << to_text(path);
    for (const ChainWord& word : plan->words) {
      EXPECT_GE(word.offset_bytes, 64u);
      EXPECT_LT(word.offset_bytes, 64 + layout.group_words * layout.word_bytes);
    }
    EXPECT_FALSE(plan_chains(too_often, layout)) << to_text(path);
  }
}

TEST(PlaceTest, rehearsal_in_the_bank_stays_away_from_taken_words) {
  EXPECT_EQ(free_bank_offset({0, 64, 128}), constant_bank_bytes - 4);
  EXPECT_EQ(free_bank_offset({constant_bank_bytes - 8, constant_bank_bytes - 4}),
            constant_bank_bytes - 12);
  std::vector<std::uint64_t> all;
  for (std::uint64_t offset = 0; offset < constant_bank_bytes; offset += 4) all.push_back(offset);
  EXPECT_EQ(free_bank_offset(all), constant_bank_bytes - 4);
}

TEST(PlaceTest, the_rehearsal_lies_behind_the_buffer_of_a_texture) {
  for (std::uint64_t bytes : {std::uint64_t{8}, 8_KiB, 8_KiB + 8}) {
    for (LoadPath path : {LoadPath::texture_1d, LoadPath::texture_2d}) {
      const RehearsalPlace place = rehearsal_behind(path, bytes);
      EXPECT_GE(place.offset_bytes, bytes + 1_KiB);
      EXPECT_GE(place.span_bytes, place.offset_bytes + texel_bytes);
    }
    EXPECT_EQ(rehearsal_behind(LoadPath::all_levels, bytes).span_bytes, bytes);
  }
}

}  // namespace
}  // namespace sonde::layout
