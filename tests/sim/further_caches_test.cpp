// Jobs cache.l1_5 and cache.l3 on drawn GPUs: a cache between the first one and the L2, and one on
// the side of the memory, are found where they are declared, and nowhere else.
#include "sim/hierarchy_truth.hpp"
#include "support/random_gpu.hpp"

#include <fmt/format.h>

#include <fstream>

namespace sonde::test {
namespace {

class FurtherCachesTest : public testing::TestWithParam<std::uint64_t> {
 protected:
  void SetUp() override {
    const std::string path = fmt::format("{}/further_{}.json", testing::TempDir(), GetParam());
    std::ofstream(path) << draw_gpu(GetParam());
    sim_ = std::make_unique<JobOnSim>(path, 1);
  }

  /// Of a cache that the model declares by this name.
  /// @param before the one before it, which may ask for more at a time than it brings
  void expect_cache(const std::string& metrics, const std::string& declared,
                    const sim::CacheModel* before) {
    const sim::CacheModel* cache = sim_->truth().find_cache(declared);
    ASSERT_NE(cache, nullptr);
    ASSERT_NE(before, nullptr);
    const std::uint64_t fetch_bytes = std::max(cache->fetch_bytes, before->fetch_bytes);
    const double size_bytes = size_of(*cache, chosen_carveout(*sim_));
    const Finding& size = sim_->find(metrics + ".size_bytes");
    EXPECT_EQ(size.status, Status::ok) << size.reason;
    EXPECT_NEAR(sim_->number(metrics + ".size_bytes"), size_bytes, size_bytes / 8);
    EXPECT_EQ(sim_->number(metrics + ".fetch_bytes"), static_cast<double>(fetch_bytes));
  }

  std::unique_ptr<JobOnSim> sim_;
};

class MiddleFoundTest : public FurtherCachesTest {};

TEST_P(MiddleFoundTest, with_its_size_and_fetch) {
  sim_->run("cache.l1");
  sim_->run("cache.l2");
  sim_->run("cache.l1_5");

  expect_cache("cache.l1_5", "middle", first_cache(sim_->truth(), LoadPath::all_levels));
}

INSTANTIATE_TEST_SUITE_P(Drawn, MiddleFoundTest, testing::Values(9));

/// Where its few lines share sets it looks like slow translations: then it is not said to be
/// absent.
TEST(MiddleOpenTest, is_not_called_absent) {
  const std::string path = fmt::format("{}/middle_open.json", testing::TempDir());
  std::ofstream(path) << draw_gpu(28);
  JobOnSim sim(path, 1);
  ASSERT_NE(sim.truth().find_cache("middle"), nullptr);
  sim.run("cache.l1");
  sim.run("cache.l2");
  sim.run("cache.l1_5");

  EXPECT_NE(sim.status("cache.l1_5.size_bytes"), Status::not_present);
}

class MemorySideFoundTest : public FurtherCachesTest {};

TEST_P(MemorySideFoundTest, with_its_size_and_fetch) {
  sim_->run("cache.l2");
  sim_->run("cache.l3");

  expect_cache("cache.l3", "memory_side", sim_->truth().find_cache("l2"));
  EXPECT_NEAR(sim_->number("cache.l2.miss_latency_cycles"),
              sim_->number("cache.l3.hit_latency_cycles"), 12);
}

INSTANTIATE_TEST_SUITE_P(Drawn, MemorySideFoundTest, testing::Values(6));

class NoFurtherCacheTest : public FurtherCachesTest {};

TEST_P(NoFurtherCacheTest, is_found_where_there_is_none) {
  ASSERT_EQ(sim_->truth().find_cache("middle"), nullptr);
  ASSERT_EQ(sim_->truth().find_cache("memory_side"), nullptr);
  sim_->run("cache.l1");
  sim_->run("cache.l2");
  sim_->run("cache.l1_5");
  sim_->run("cache.l3");

  EXPECT_EQ(sim_->status("cache.l1_5.size_bytes"), Status::not_present);
  EXPECT_EQ(sim_->status("cache.l3.size_bytes"), Status::not_present);
}

INSTANTIATE_TEST_SUITE_P(Drawn, NoFurtherCacheTest, testing::Values(1, 2));

}  // namespace
}  // namespace sonde::test
