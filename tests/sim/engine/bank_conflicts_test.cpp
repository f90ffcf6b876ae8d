#include "device/sim/cores/bank_conflicts.hpp"

#include <gtest/gtest.h>

namespace sonde::sim {
namespace {

SharedModel banks(std::uint32_t count, std::uint32_t bank_bytes) {
  SharedModel shared;
  shared.banks = count;
  shared.bank_bytes = bank_bytes;
  shared.modes = bank_bytes == 8;
  return shared;
}

std::uint32_t passes(const SharedModel& shared, BankMode mode, std::uint32_t stride_words,
                     int element_bytes = 4) {
  std::vector<std::uint32_t> offsets;
  for (std::uint32_t t = 0; t < 32; ++t) {
    offsets.push_back(t * stride_words * static_cast<std::uint32_t>(element_bytes));
  }
  return count_passes(shared, mode, element_bytes, offsets);
}

TEST(BankConflictsTest, wide_words_take_two_groups_on_narrow_banks_only) {
  EXPECT_EQ(passes(banks(32, 4), BankMode::four_bytes, 1, 8), 2u);
  EXPECT_EQ(passes(banks(32, 8), BankMode::eight_bytes, 1, 8), 1u);
}

TEST(BankConflictsTest, sixteen_banks_serve_half_a_warp_at_a_time) {
  EXPECT_EQ(passes(banks(16, 4), BankMode::four_bytes, 1), 2u);
  EXPECT_EQ(passes(banks(16, 4), BankMode::four_bytes, 2), 4u);
  const auto of = [](std::vector<std::uint32_t> offsets) {
    return count_passes(banks(16, 4), BankMode::four_bytes, 4, offsets);
  };
  EXPECT_EQ(of({0}), 2u) << "the other half has its turn, too";
  EXPECT_EQ(of({0, 64}), 3u) << "two in conflict";
}

TEST(BankConflictsTest, one_thread_never_conflicts) {
  const std::vector<std::uint32_t> one{4};
  EXPECT_EQ(count_passes(banks(32, 4), BankMode::four_bytes, 4, one), 1u);
}

}  // namespace
}  // namespace sonde::sim
