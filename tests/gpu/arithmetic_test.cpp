// Arithmetic on a real GPU: every operation has a kernel, and times that pipelines can have.
#include "gpu/gpu_test.hpp"

#include "analysis/statistics.hpp"
#include "analysis/structure/cores/issue.hpp"
#include "base/arithmetic_ops.hpp"
#include "base/error.hpp"

#include <fmt/format.h>

#include <map>
#include <string>

namespace sonde {
namespace {

class ArithmeticGpuTest : public GpuTest {
 protected:
  /// Cycles of a step of all chains on the median SM.
  double step(const ArithmeticProbe& asked) {
    ArithmeticProbe probe = asked;
    const std::uint64_t round = arithmetic_round / static_cast<std::uint64_t>(probe.ilp);
    probe.steps = round;
    const Trace shorter = device().run(probe);
    probe.steps = 4 * round;
    const Trace longer = device().run(probe);
    return median(step_cycles(shorter, longer, static_cast<double>(3 * round)));
  }
  double latency(const std::string& op) {
    return step({.op = op, .warps = find_arithmetic_op(op)->group_warps});
  }
  /// Results per cycle and SM.
  double rate(const ArithmeticOp& op) {
    const int warps = op.group_warps == 1 ? 32 : 2 * op.group_warps;
    const int ilp = op.group_warps == 1 ? op.filling_chains : 1;
    const double cycles = step({.op = std::string(op.name), .warps = warps, .ilp = ilp});
    return warps * ilp * op.per_warp / cycles;
  }
};

TEST_F(ArithmeticGpuTest, every_operation_has_a_latency_and_a_rate) {
  fmt::print("{:<20} {:>9} {:>11}  machine code\n", "operation", "latency", "per cycle");
  for (const ArithmeticOp& op : arithmetic_ops) {
    const std::string name(op.name);
    try {
      const double cycles = latency(name);
      const double per_cycle = rate(op);
      fmt::print("{:<20} {:>9.2f} {:>11.2f}  {}\n", name, cycles, per_cycle,
                 device().machine_code(name));
      EXPECT_GT(cycles, 2) << name;  // no pipeline of a GPU has ever been shorter
      EXPECT_LT(cycles, 2000) << name;
      // No SM issues more than four instructions a cycle, and none of 32 threads is faster.
      EXPECT_LT(per_cycle, 4.02 * op.per_warp) << name;
      // With 128 chains an SM must be faster than with one; a group of warps may fill it.
      if (op.group_warps == 1) {
        EXPECT_GT(per_cycle * cycles, 1.5 * op.per_warp) << name;
      }
    } catch (const DeviceError& error) {
      fmt::print("{:<20} {}\n", name, error.what());
      EXPECT_LT(device().info().compute_major, 9) << name;  // all were made for Hopper
    }
  }
}

/// Jarmusch et al. 2025 (GH100): integers and single precision 4 cycles, double precision 8. CUDA
/// programming guide, table of arithmetic throughput: results per cycle and SM of 9.0. Data sheet
/// of the H100 and H200 SXM, 132 SMs at 1.83 GHz: 989.4e12 operations a second of half precision
/// without sparsity are 2048 multiply-adds per cycle and SM, half of it tf32, twice 8 bit.
TEST_F(ArithmeticGpuTest, hopper_is_as_published) {
  if (!is_hopper()) GTEST_SKIP() << "no Hopper";
  for (const char* op : {"int_add", "float_add", "float_mul", "float_fma"}) {
    EXPECT_NEAR(latency(op), 4, 0.3) << op;
  }
  EXPECT_NEAR(latency("double_fma"), 8, 0.5);
  const std::map<std::string, double> published{
      {"float_fma", 128},   {"float_add", 128},  {"int_add", 64},      {"int_mad", 64},
      {"int_logic", 64},    {"double_fma", 64},  {"float_rsqrt", 16},  {"half2_fma", 256},
      {"warp_shuffle", 32}, {"wgmma_f16", 2048}, {"wgmma_bf16", 2048}, {"wgmma_tf32", 1024},
      {"wgmma_fp8", 4096},  {"wgmma_s8", 4096}};
  for (const auto& [op, per_cycle] : published) {
    EXPECT_NEAR(rate(*find_arithmetic_op(op)), per_cycle, 0.06 * per_cycle) << op;
  }
  // Three different registers of 64 bits cannot all be read at its pace (seen on an H200: 54.7).
  EXPECT_LT(rate(*find_arithmetic_op("double_fma_three")), 60);
}

TEST_F(ArithmeticGpuTest, schedulers_show_in_the_time_against_warps) {
  std::vector<double> cycles;
  for (int warps = 1; warps <= 32; ++warps) {
    cycles.push_back(step({.op = "float_fma", .warps = warps, .ilp = 4}));
  }
  const auto shape = infer_issue(cycles);
  if (device().info().compute_major < 7) GTEST_SKIP() << "nothing is published of this GPU";
  ASSERT_TRUE(shape.has_value());
  EXPECT_EQ(shape->schedulers, 4);  // since Volta (Jia et al. 2018)
}

TEST_F(ArithmeticGpuTest, pairs_take_no_longer_than_both_and_no_shorter_than_one) {
  for (const ArithmeticPair& pair : arithmetic_pairs) {
    const std::string first(pair.first), second(pair.second);
    const double one = step({.op = first, .warps = 32, .ilp = 4});
    const double other = step({.op = second, .warps = 32, .ilp = 4});
    const double both = step({.op = first, .second = second, .warps = 32, .ilp = 4});
    EXPECT_GT(both, 0.97 * std::max(one, other)) << pair.name;
    // Operations that take turns may meet at registers and units, and then take longer than one
    // kind after the other (seen on an H200: up to 1.05 of the sum).
    EXPECT_LT(both, 1.2 * (one + other)) << pair.name;
  }
}

/// A step that a compiler or the loop had swallowed would not show in the time.
TEST_F(ArithmeticGpuTest, time_grows_with_steps_and_chains) {
  for (int ilp : {1, 2, 4, 8}) {
    // A scheduler issues one instruction a cycle.
    EXPECT_GT(step({.op = "float_fma", .ilp = ilp}), 0.97 * ilp);
  }
  const double few = step({.op = "float_rsqrt", .warps = 8, .ilp = 4});
  const double many = step({.op = "float_rsqrt", .warps = 32, .ilp = 4});
  EXPECT_NEAR(many / few, 4, 0.2);
}

TEST_F(ArithmeticGpuTest, impossible_probes_are_refused_and_the_next_one_runs) {
  EXPECT_THROW(device().run(ArithmeticProbe{.op = "int_add", .warps = 64, .steps = 256}),
               DeviceError);
  EXPECT_THROW(device().run(ArithmeticProbe{.op = "int_add", .ilp = 2, .steps = 256}), DeviceError);
  EXPECT_NO_THROW(device().run(ArithmeticProbe{.op = "int_add", .steps = 256}));
}

}  // namespace
}  // namespace sonde
