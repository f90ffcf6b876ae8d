#include "device/layout/carveout.hpp"

#include "base/error.hpp"
#include "base/units.hpp"
#include "unit/device/layout/hopper.hpp"

#include <gtest/gtest.h>

namespace sonde::layout {
namespace {

TEST(CarveoutTest, a_block_takes_all_of_the_smallest_carveout_that_holds_it) {
  EXPECT_EQ(plan_shared(hopper(), 64).carveout_bytes, 8_KiB);
  EXPECT_EQ(plan_shared(hopper(), 64).dynamic_bytes, 7_KiB) << "no second one fits";
  EXPECT_EQ(plan_shared(hopper(), 7_KiB + 1).carveout_bytes, 16_KiB);
  EXPECT_EQ(plan_shared(hopper(), 227_KiB).carveout_bytes, 228_KiB);
}

TEST(CarveoutTest, the_percentage_rounds_up_to_the_carveout_that_is_meant) {
  const DeviceInfo info = hopper();
  const auto& carveouts = info.shared_carveouts_bytes;
  for (std::size_t i = 1; i < carveouts.size(); ++i) {
    const SharedPlan plan = plan_shared(info, 64, carveouts[i]);
    const auto hinted = static_cast<std::uint64_t>(plan.carveout_percent) * 228_KiB / 100;
    EXPECT_LE(hinted, carveouts[i]);
    EXPECT_GT(hinted, carveouts[i - 1]);
  }
}

TEST(CarveoutTest, an_asked_carveout_is_kept_or_refused) {
  EXPECT_EQ(plan_shared(hopper(), 64, 100_KiB).carveout_bytes, 100_KiB);
  EXPECT_EQ(plan_shared(hopper(), 64, 90_KiB).carveout_bytes, 100_KiB);
  EXPECT_THROW(plan_shared(hopper(), 20_KiB, 16_KiB), DeviceError);
  EXPECT_THROW(plan_shared(hopper(), 64, 300_KiB), DeviceError);
  EXPECT_THROW(plan_shared(hopper(), 228_KiB), DeviceError);
}

TEST(CarveoutTest, several_blocks_share_the_carveout_evenly) {
  EXPECT_EQ(plan_shared(hopper(), 3_KiB, std::nullopt, 2).carveout_bytes, 8_KiB);
  EXPECT_EQ(plan_shared(hopper(), 3_KiB, std::nullopt, 2).dynamic_bytes, 3_KiB);
  EXPECT_EQ(plan_shared(hopper(), 3_KiB + 1, std::nullopt, 2).carveout_bytes, 16_KiB);
  EXPECT_EQ(plan_shared(hopper(), 64, 100_KiB, 2).dynamic_bytes, 49_KiB);
  EXPECT_EQ(plan_shared(hopper(), 113_KiB, std::nullopt, 2).carveout_bytes, 228_KiB);
  EXPECT_THROW(plan_shared(hopper(), 114_KiB, std::nullopt, 2), DeviceError);
  EXPECT_THROW(plan_shared(hopper(), 4_KiB, 8_KiB, 2), DeviceError);
}

TEST(CarveoutTest, without_a_choice_blocks_get_what_they_need_or_are_refused) {
  DeviceInfo info = hopper();
  info.shared_carveouts_bytes.clear();

  EXPECT_EQ(plan_shared(info, 3000).dynamic_bytes, 3000u);
  EXPECT_EQ(plan_shared(info, 3000).carveout_percent, -1);
  EXPECT_EQ(plan_shared(info, 113_KiB, std::nullopt, 2).dynamic_bytes, 113_KiB);
  EXPECT_THROW(plan_shared(info, 114_KiB, std::nullopt, 2), DeviceError);
}

}  // namespace
}  // namespace sonde::layout
