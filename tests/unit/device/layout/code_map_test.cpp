#include "device/layout/code_map.hpp"

#include "base/error.hpp"
#include "base/random.hpp"

#include <gmock/gmock.h>

namespace sonde::layout {
namespace {

constexpr std::uint64_t instruction_bytes = 16;

std::vector<std::uint64_t> functions_from(std::uint64_t address, std::size_t count) {
  std::vector<std::uint64_t> addresses;
  for (std::size_t i = 0; i < count; ++i) addresses.push_back(address + i * 128);
  Random random(3);
  shuffle(addresses, random);
  return addresses;
}

TEST(CodeMapTest, functions_that_begin_with_a_line_are_the_blocks) {
  const CodeMap map = map_code(functions_from(0x5680, 100), instruction_bytes);

  EXPECT_EQ(map.first_address, 0x5680u);
  EXPECT_EQ(map.blocks, 99u);
  EXPECT_EQ(map.rehearsal_address, 0x5680u + 99 * 128);
  EXPECT_EQ(map.additions_per_access, 7u);
}

TEST(CodeMapTest, lines_that_begin_within_a_function_end_with_its_return) {
  const CodeMap map = map_code(functions_from(0x5680 + 3 * 16, 100), instruction_bytes);

  // The line at 0x5700 holds the last three instructions of the first function.
  EXPECT_EQ(map.first_address, 0x5700u);
  EXPECT_EQ(map.additions_per_access, 2u);
  // The last line, which is the rehearsal's, is left by the return of the last function.
  EXPECT_EQ(map.blocks, 99u);
  EXPECT_EQ(map.rehearsal_address, 0x5700u + 99 * 128);
}

TEST(CodeMapTest, gaps_between_functions_are_refused) {
  auto addresses = functions_from(0x5680, 100);
  *std::ranges::max_element(addresses) += 16;

  EXPECT_THROW(map_code(addresses, instruction_bytes), DeviceError);
}

TEST(CodeMapTest, additions_are_counted_from_where_a_block_is_entered_as_far_as_a_float_can) {
  const CodeMap map = map_code(functions_from(0, 10), instruction_bytes);
  const auto count = [&](const std::vector<std::uint64_t>& offsets_bytes, std::uint64_t accesses) {
    return counted_additions(map, offsets_bytes, accesses);
  };
  EXPECT_EQ(count({0, 256}, 1000), 7000u);
  EXPECT_EQ(count({0, 256}, 1u << 30), 1u << 24);
  // 7, 3 and 1 additions; the list ends within its third round.
  EXPECT_EQ(count({128, 64, 96}, 7), 2 * 11u + 7u);
}

TEST(CodeMapTest, a_block_is_not_entered_behind_its_return) {
  const CodeMap map = map_code(functions_from(3 * 16, 10), instruction_bytes);

  EXPECT_EQ(counted_additions(map, std::vector<std::uint64_t>{32}, 5), 0u);
  EXPECT_THROW(counted_additions(map, std::vector<std::uint64_t>{64}, 5), DeviceError);
}

}  // namespace
}  // namespace sonde::layout
