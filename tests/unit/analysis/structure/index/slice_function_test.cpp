// Hashes with a remainder are drawn, the slices of the lines of a page are worked out from them,
// and the fit has to find the same hash whatever the slices are called.
#include "analysis/structure/index/slice_function.hpp"

#include "analysis/structure/index/index_function.hpp"
#include "base/random.hpp"

#include <gtest/gtest.h>

#include <bit>
#include <numeric>
#include <string>

namespace sonde {
namespace {

constexpr std::uint64_t line_bytes = 128;
constexpr std::size_t dimensions = 14;
constexpr std::size_t lines = std::size_t{1} << dimensions;

struct Hash {
  std::vector<std::uint64_t> masks;  // of line numbers
  std::uint32_t slices = 0;
  std::uint64_t choosing_mask = 0;         // of two orders
  std::vector<std::uint32_t> second = {};  // the second: which slice instead of each
};

/// Independent masks: enough of them that all slices have nearly as many lines.
Hash draw_hash(std::uint32_t slices, std::size_t bits, Random& random) {
  Hash hash{.masks = {}, .slices = slices};
  Gf2Basis basis;
  while (hash.masks.size() < bits) {
    const std::uint64_t mask = random.below(lines);
    if (basis.insert(mask)) hash.masks.push_back(mask);
  }
  return hash;
}

std::vector<std::uint32_t> label_page(const Hash& hash, std::uint64_t constant, Random& random) {
  std::vector<std::uint32_t> names(hash.slices);
  std::iota(names.begin(), names.end(), 0u);
  shuffle(names, random);
  std::vector<std::uint32_t> labels;
  for (std::uint64_t line = 0; line < lines; ++line) {
    const std::uint64_t slice = (fold_bits(line, hash.masks) ^ constant) % hash.slices;
    const bool is_second = std::popcount(line & hash.choosing_mask) % 2 != 0;
    labels.push_back(names[is_second ? hash.second[slice] : slice]);
  }
  return labels;
}

std::size_t count_right(const SliceFunction& function, const std::vector<std::uint32_t>& labels) {
  std::size_t right = 0;
  for (std::size_t line = 0; line < labels.size(); ++line) {
    right += slice_of(function, line * line_bytes) == labels[line];
  }
  return right;
}

class SliceFunctionTest : public testing::TestWithParam<std::uint32_t> {};

TEST_P(SliceFunctionTest, a_hash_comes_back_from_the_slices_of_any_page) {
  const std::uint32_t slices = GetParam();
  Random random(slices);
  const auto least_bits = static_cast<std::size_t>(std::bit_width(slices - 1));
  const bool divides = std::has_single_bit(slices);
  for (std::size_t more = divides ? 0 : 3; more <= (divides ? 0u : 5u); ++more) {
    const Hash hash = draw_hash(slices, least_bits + more, random);
    const std::uint64_t constants = std::uint64_t{1} << hash.masks.size();
    const auto first_page = label_page(hash, random.below(constants), random);
    const auto second_page = label_page(hash, random.below(constants), random);

    const SliceFunction first = fit_slice_function(first_page, line_bytes);
    const SliceFunction second = fit_slice_function(second_page, line_bytes);

    ASSERT_TRUE(first.is_known()) << first.reason << ", bits " << hash.masks.size();
    EXPECT_EQ(first.divisor, slices);
    EXPECT_EQ(first.masks.size(), hash.masks.size());
    EXPECT_EQ(count_right(first, first_page), lines);
    EXPECT_EQ(describe(second), describe(first));
  }
}

INSTANTIATE_TEST_SUITE_P(Slices, SliceFunctionTest,
                         testing::Values(2, 3, 4, 5, 6, 7, 8, 10, 11, 12, 20, 22, 24, 32, 40, 47,
                                         48, 64, 80, 94, 96));

std::vector<std::uint32_t> list_slices(std::uint32_t slices) {
  std::vector<std::uint32_t> numbers(slices);
  std::iota(numbers.begin(), numbers.end(), 0u);
  return numbers;
}

/// As seen on H200s, whose 47 units come from six groups of eight of which one is not there:
/// neighbours change places, but for those of the group that lacks one.
std::vector<std::uint32_t> swap_neighbours() {
  std::vector<std::uint32_t> second = list_slices(47);
  for (const std::uint32_t first : {0U, 27U}) {
    for (std::uint32_t i = first; i < first + 20; i += 2) std::swap(second[i], second[i + 1]);
  }
  return second;
}

class TwoOrdersTest : public testing::TestWithParam<std::uint32_t> {};

TEST_P(TwoOrdersTest, a_hash_with_two_orders_comes_back_from_any_page) {
  Random random(GetParam());
  Hash hash =
      draw_hash(GetParam(), static_cast<std::size_t>(std::bit_width(GetParam())) + 4, random);
  hash.choosing_mask = hash.masks.back();
  hash.masks.pop_back();
  hash.second = list_slices(hash.slices);
  shuffle(hash.second, random);
  if (hash.slices == 47) hash.second = swap_neighbours();
  const std::uint64_t constants = std::uint64_t{1} << hash.masks.size();
  std::string text;
  for (int page = 0; page < 3; ++page) {
    const auto labels = label_page(hash, random.below(constants), random);
    const SliceFunction function = fit_slice_function(labels, line_bytes);
    ASSERT_TRUE(function.is_known()) << function.reason;
    EXPECT_EQ(function.choosing_mask, hash.choosing_mask * line_bytes);
    EXPECT_EQ(count_right(function, labels), lines);
    if (page == 0) text = describe(function);
    EXPECT_EQ(describe(function), text);
  }
  EXPECT_NE(text.find(", in one of two orders by "), std::string::npos) << text;
}

/// Pairs that change places by either order, turned round or not: only its mask tells of the
/// second.
TEST(SliceFunctionFitTest, orders_that_turn_round_alike_need_the_mask_of_another_page) {
  Random random(9);
  Hash hash = draw_hash(47, 11, random);
  hash.choosing_mask = hash.masks.back();
  hash.masks.pop_back();
  hash.second = list_slices(47);
  // 1023 mod 47 = 36: turned round, the order has 17 where 19 was.
  std::swap(hash.second[17], hash.second[19]);
  const auto labels = label_page(hash, 0, random);
  EXPECT_FALSE(fit_slice_function(labels, line_bytes).is_known());

  const SliceFunction function =
      fit_slice_function(labels, line_bytes, hash.choosing_mask * line_bytes);

  ASSERT_TRUE(function.is_known()) << function.reason;
  EXPECT_EQ(count_right(function, labels), lines);
}

INSTANTIATE_TEST_SUITE_P(Slices, TwoOrdersTest, testing::Values(5, 7, 11, 23, 29, 47, 95));

TEST(SliceFunctionFitTest, lines_that_are_unknown_or_wrong_do_not_hide_it) {
  Random random(5);
  const Hash hash = draw_hash(47, 10, random);
  const auto truth = label_page(hash, 0x155, random);
  auto labels = truth;
  for (int i = 0; i < 60; ++i) labels[random.below(lines)] = unknown_slice;
  for (int i = 0; i < 60; ++i) {
    labels[random.below(lines)] = static_cast<std::uint32_t>(random.below(47));
  }

  const SliceFunction function = fit_slice_function(labels, line_bytes);

  ASSERT_TRUE(function.is_known()) << function.reason;
  EXPECT_EQ(count_right(function, truth), lines);
  EXPECT_LT(function.explained_lines, function.known_lines);
}

/// What a hash of another kind gives: a table of 24 slices behind 8 bits, drawn at random.
TEST(SliceFunctionFitTest, a_table_behind_a_hash_is_no_remainder) {
  Random random(7);
  const Hash hash = draw_hash(256, 8, random);
  std::vector<std::uint32_t> table;
  for (std::uint32_t i = 0; i < 256; ++i) table.push_back(i % 24);
  shuffle(table, random);
  std::vector<std::uint32_t> labels = label_page(hash, 0, random);
  for (std::uint32_t& label : labels) label = table[label];

  EXPECT_FALSE(fit_slice_function(labels, line_bytes).is_known());
}

}  // namespace
}  // namespace sonde
