#include "base/arithmetic_ops.hpp"
#include "device/cuda/session/inventory.hpp"
#include "kernels/arithmetic/arithmetic.hpp"

#include <gmock/gmock.h>

namespace sonde::cuda {
namespace {

TEST(CudaTablesTest, every_operation_has_kernels_and_machine_code) {
  for (const ArithmeticOp& op : arithmetic_ops) {
    for (int ilp : {1, 4}) {
      if (op.group_warps > 1 && ilp > 1) continue;  // no registers
      const auto* kernel = kernels::find_arithmetic(op.name, "", ilp);
      ASSERT_NE(kernel, nullptr) << op.name << " " << ilp;
      EXPECT_EQ(kernel->op, op.name);
      EXPECT_GE(kernel->most_warps, 2u * static_cast<unsigned>(op.group_warps));
      EXPECT_EQ(256u % (kernel->body_steps * static_cast<unsigned>(ilp)), 0u) << op.name;
    }
    EXPECT_NE(kernels::arithmetic_machine_code(op.name, 90), "") << op.name;
  }
  for (const ArithmeticPair& pair : arithmetic_pairs) {
    EXPECT_NE(kernels::find_arithmetic(pair.first, pair.second, 4), nullptr) << pair.name;
  }
  for (std::string_view op : arithmetic_ilp_sweeps) {
    for (int ilp : {1, 2, 4, 8}) EXPECT_NE(kernels::find_arithmetic(op, "", ilp), nullptr) << op;
  }
  EXPECT_EQ(kernels::find_arithmetic("int_add", "", 3), nullptr);
  EXPECT_EQ(kernels::arithmetic_machine_code("int_add", 70), "");
}

TEST(CudaTablesTest, carveouts_ascend) {
  for (int major : {7, 8, 9, 10, 12}) {
    const auto carveouts = shared_carveouts(major, 0);
    EXPECT_FALSE(carveouts.empty()) << major;
    EXPECT_TRUE(std::ranges::is_sorted(carveouts)) << major;
  }
  EXPECT_TRUE(shared_carveouts(6, 0).empty());
}

}  // namespace
}  // namespace sonde::cuda
