#include "device/sim/memory/set_index.hpp"

#include <gtest/gtest.h>

#include <bit>

namespace sonde::sim {
namespace {

TEST(SetIndexTest, takes_a_field_of_bits) {
  DeclaredIndex function;
  function.low_bit = 7;
  function.bits = 2;

  const SetIndex index(function, 4);

  EXPECT_EQ(index(0x7f), 0u);
  EXPECT_EQ(index(0x80), 1u);
  EXPECT_EQ(index(0x380), 3u);
}

TEST(SetIndexTest, folds_masks_as_parities) {
  DeclaredIndex function;
  function.kind = DeclaredIndex::Kind::xor_masks;
  function.masks = {0x25A80, 0x59500, 0x800000000000};
  const SetIndex index(function, 8);

  for (std::uint64_t address : {0x0ULL, 0x80ULL, 0x12345678ULL, 0x8000deadbeefULL}) {
    std::uint32_t expected = 0;
    for (std::size_t i = 0; i < function.masks.size(); ++i) {
      expected |= static_cast<std::uint32_t>(std::popcount(address & function.masks[i]) % 2) << i;
    }
    EXPECT_EQ(index(address), expected) << address;
  }
}

TEST(SetIndexTest, divides_for_other_than_powers_of_two) {
  DeclaredIndex function;
  function.kind = DeclaredIndex::Kind::modulo;
  function.granularity_bytes = 32;

  const SetIndex index(function, 1792);

  EXPECT_EQ(index(31), 0u);
  EXPECT_EQ(index(57344 - 1), 1791u);
  EXPECT_EQ(index(57344), 0u);
}

TEST(SetIndexTest, takes_the_remainder_of_parities) {
  DeclaredIndex function;
  function.kind = DeclaredIndex::Kind::xor_modulo;
  function.masks = {0x180, 0x100, 0x200};

  const SetIndex index(function, 3);

  EXPECT_EQ(index(0x80), 1u);
  EXPECT_EQ(index(0x100), 0u);  // 3 mod 3
  EXPECT_EQ(index(0x280), 2u);  // 5 mod 3
}

TEST(SetIndexTest, looks_up_a_table_again_and_again) {
  DeclaredIndex function;
  function.kind = DeclaredIndex::Kind::table;
  function.granularity_bytes = 10;
  function.table = {4, 0, 2};

  const SetIndex index(function, 5);

  EXPECT_EQ(index(9), 4u);
  EXPECT_EQ(index(25), 2u);
  EXPECT_EQ(index(30), 4u);
}

}  // namespace
}  // namespace sonde::sim
