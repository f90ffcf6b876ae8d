#include "base/error.hpp"
#include "device/cuda/chase_memory.hpp"
#include "device/cuda/inventory.hpp"

#include <gmock/gmock.h>

namespace sonde::cuda {
namespace {

TEST(CudaTablesTest, code_is_not_loaded) {
  EXPECT_THROW(to_chase_path(LoadPath::instruction), Error);
  EXPECT_EQ(to_chase_path(LoadPath::atomic), kernels::ChasePath::atomic);
}

TEST(CudaTablesTest, carveouts_ascend_and_are_empty_where_unknown) {
  for (int major : {7, 8, 9, 10, 12}) {
    const auto carveouts = shared_carveouts(major, 0);
    EXPECT_FALSE(carveouts.empty()) << major;
    EXPECT_TRUE(std::ranges::is_sorted(carveouts)) << major;
  }
  EXPECT_TRUE(shared_carveouts(6, 0).empty());
}

TEST(CudaTablesTest, partitions_have_instruction_caches_since_volta) {
  EXPECT_FALSE(has_partition_instruction_caches(6));
  EXPECT_TRUE(has_partition_instruction_caches(7));
}

}  // namespace
}  // namespace sonde::cuda
