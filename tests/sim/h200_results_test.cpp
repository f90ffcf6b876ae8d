// The shipped model of the H200 is held to what was measured on a real one: its findings, by the
// same jobs, against those in h200_measured.json. What the model declares otherwise, because nobody
// knows it, is not in the lists (its `source` says what).
#include "base/arithmetic_ops.hpp"
#include "sim/job_on_sim.hpp"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <fstream>
#include <string>

namespace sonde::test {
namespace {

using nlohmann::json;

/// @param part "structure", "placement", "cores" or "arithmetic"
json read_measured(const char* part) {
  std::ifstream file(SONDE_H200_MEASURED);
  return json::parse(file).at(part);
}

/// Texts and numbers that are the same, and pairs of a number and the share of it that the model
/// may differ by.
void compare(const JobOnSim& sim, const json& measured) {
  for (const auto& [name, value] : measured.items()) {
    if (name == "measured") continue;  // when, and by what
    if (value.is_string()) {
      EXPECT_EQ(sim.text(name), value.get<std::string>()) << name;
    } else if (value.is_array()) {
      const double number = value.at(0);
      EXPECT_NEAR(sim.number(name), number, value.at(1).get<double>() * number) << name;
    } else {
      EXPECT_EQ(sim.number(name), value.get<double>()) << name;
    }
  }
}

TEST(H200ResultsTest, the_model_computes_branches_and_launches_as_a_real_one) {
  JobOnSim sim("h200", 13,
               {"clock", "cache.constant_l1", "arithmetic", "control", "registers",
                "constant.throughput", "l2.throughput"});
  compare(sim, read_measured("cores"));
  const json operations = read_measured("arithmetic");
  int compared = 0;
  for (const ArithmeticOp& op : arithmetic_ops) {
    const std::string latency = fmt::format("arithmetic.{}.latency_cycles", op.name);
    const std::string rate = fmt::format("arithmetic.{}.throughput_per_cycle_per_sm", op.name);
    const bool is_known = sim.find(latency).status == Status::ok;
    const auto measured = operations.find(std::string(op.name));
    if (!is_known || measured == operations.end()) continue;
    const double cycles = measured->at(0);
    const double per_cycle = measured->at(1);
    EXPECT_NEAR(sim.number(latency), cycles, 0.3) << op.name;
    EXPECT_NEAR(sim.number(rate), per_cycle, 0.04 * per_cycle) << op.name;
    ++compared;
  }
  EXPECT_GT(compared, 40);
}

TEST(H200ResultsTest, the_model_has_the_slices_and_links_of_a_real_one) {
  JobOnSim sim("h200", 12, {"clock", "topology", "slices", "dsm", "host"});
  compare(sim, read_measured("placement"));
}

TEST(H200ResultsTest, the_model_finds_what_was_found_on_a_real_one) {
  JobOnSim sim("h200", 11,
               {"clock", "cache.l1", "cache.l2", "cache.texture_l1", "cache.constant_l1",
                "cache.constant_l2", "cache.instruction", "tlb"});
  compare(sim, read_measured("structure"));
  // As on the real one all SMs are alike, and the L1 and shared memory fill one array.
  EXPECT_EQ(sim.number("cache.l1.alike_sms"), 132);
  EXPECT_EQ(sim.status("cache.l1.odd_sms"), Status::not_present);
  const std::vector<double> shared = sim.vector("cache.l1.carveout_bytes");
  const std::vector<double> sizes = sim.vector("cache.l1.size_by_carveout_bytes");
  ASSERT_EQ(shared.size(), 9U);
  for (std::size_t i = 0; i < shared.size(); ++i) EXPECT_EQ(shared[i] + sizes[i], 256.0 * 1024);
}

}  // namespace
}  // namespace sonde::test
