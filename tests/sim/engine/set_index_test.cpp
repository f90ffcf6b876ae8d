#include "device/sim/memory/set_index.hpp"

#include <gtest/gtest.h>

#include <bit>

namespace sonde::sim {
namespace {

using Kind = DeclaredIndex::Kind;

/// An index function, and the sets that it gives for some addresses.
struct Indexed {
  DeclaredIndex function;
  std::uint32_t sets;
  std::vector<std::pair<std::uint64_t, std::uint32_t>> set_of;
};

TEST(SetIndexTest, every_kind_gives_the_sets_that_it_declares) {
  const std::vector<Indexed> kinds{
      {{Kind::bit_field, 7, 2, {}, 1, {}, {}}, 4, {{0x7f, 0}, {0x80, 1}, {0x380, 3}}},
      {{Kind::modulo, 0, 0, {}, 32, {}, {}}, 1792, {{31, 0}, {57344 - 1, 1791}, {57344, 0}}},
      {{Kind::xor_modulo, 0, 0, {0x180, 0x100, 0x200}, 1, {}, {}},
       3,
       {{0x80, 1}, {0x100, 3 % 3}, {0x280, 5 % 3}}},
      {{Kind::table, 0, 0, {}, 10, {4, 0, 2}, {}}, 5, {{9, 4}, {25, 2}, {30, 4}}}};
  for (const Indexed& kind : kinds) {
    const SetIndex index(kind.function, kind.sets);
    for (auto [address, set] : kind.set_of) EXPECT_EQ(index(address), set) << address;
  }
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

}  // namespace
}  // namespace sonde::sim
