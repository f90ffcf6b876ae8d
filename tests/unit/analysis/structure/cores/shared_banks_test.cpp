// Banks declared here come back from the latencies of pairs of threads.
#include "analysis/structure/cores/shared_banks.hpp"

#include "base/error.hpp"
#include "base/random.hpp"

#include <gtest/gtest.h>

#include <map>
#include <set>

namespace sonde {
namespace {

/// Bank and row of a 4-byte word: 32 banks of 4 bytes, or Kepler's 8-byte banks in both modes (Mei
/// and Chu 2016, figure 19).
struct Place {
  std::uint32_t bank;
  std::uint32_t row;
};
Place fermi(std::uint32_t word) { return {word % 32, word / 32}; }
Place kepler_four(std::uint32_t word) { return {word % 32, word / 64}; }
Place kepler_eight(std::uint32_t word) { return {word / 2 % 32, word / 64}; }

std::vector<double> pair_latencies(Place (*place)(std::uint32_t), double cost_cycles, int words) {
  Random random(7);
  std::vector<double> latencies;
  for (std::uint32_t word = 0; word < static_cast<std::uint32_t>(words); ++word) {
    const bool conflict = place(word).bank == place(0).bank && place(word).row != place(0).row;
    latencies.push_back(28 + (conflict ? cost_cycles : 0) + 0.3 * random.unit());
  }
  return latencies;
}

TEST(SharedBanksTest, four_byte_banks_are_counted) {
  const auto banks = infer_banks(pair_latencies(fermi, 2, 128));
  ASSERT_TRUE(banks);
  EXPECT_EQ(banks->count, 32u);
  EXPECT_EQ(banks->bank_bytes, 4u);
  EXPECT_NEAR(banks->pair_conflict_cycles, 2, 0.3);
}

TEST(SharedBanksTest, eight_byte_banks_are_seen_in_both_modes) {
  for (auto* place : {kepler_four, kepler_eight}) {
    const auto banks = infer_banks(pair_latencies(place, 35, 128));
    ASSERT_TRUE(banks);
    EXPECT_EQ(banks->count, 32u);
    EXPECT_EQ(banks->bank_bytes, 8u);
  }
}

TEST(SharedBanksTest, no_conflicts_or_too_short_a_scan_give_no_banks) {
  EXPECT_FALSE(infer_banks(pair_latencies(fermi, 0, 128)));
  EXPECT_FALSE(infer_banks(pair_latencies(kepler_four, 35, 96)));
  EXPECT_FALSE(infer_banks(std::vector<double>{28}));
}

TEST(SharedBanksTest, conflict_offsets_meet_in_exactly_as_many_ways_as_asked) {
  for (int ways : {1, 2, 4, 8, 16, 32}) {
    std::map<std::uint32_t, std::set<std::uint32_t>> rows_of_bank;
    for (std::uint32_t offset : conflict_offsets(32, ways, {32, 8, 0}, 4)) {
      const Place place = kepler_four(offset / 4);
      rows_of_bank[place.bank].insert(place.row);
    }
    std::size_t worst = 0;
    for (const auto& [bank, rows] : rows_of_bank) worst = std::max(worst, rows.size());
    EXPECT_EQ(worst, static_cast<std::size_t>(ways));
  }
  EXPECT_THROW(conflict_offsets(32, 3, {32, 4, 0}, 4), Error);
}

TEST(SharedBanksTest, stride_offsets_are_multiples_of_the_stride) {
  EXPECT_EQ(stride_offsets(3, 6, 8), (std::vector<std::uint32_t>{0, 48, 96}));
}

}  // namespace
}  // namespace sonde
