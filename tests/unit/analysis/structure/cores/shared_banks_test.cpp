// Latencies of pairs of threads that tell no banks.
#include "analysis/structure/cores/shared_banks.hpp"

#include <gtest/gtest.h>

namespace sonde {
namespace {

TEST(SharedBanksTest, no_conflicts_or_too_short_a_scan_give_no_banks) {
  EXPECT_FALSE(infer_banks(std::vector<double>(128, 28)));
  EXPECT_FALSE(infer_banks(std::vector<double>{28}));
  // 8-byte banks of Kepler: the second conflict lies beyond the end.
  std::vector<double> latencies(96, 28);
  latencies[64] = 63;
  EXPECT_FALSE(infer_banks(latencies));
}

}  // namespace
}  // namespace sonde
