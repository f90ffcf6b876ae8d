// A GPU is compared with reference values of its model.
#include "analysis/fleet/verdict/reduce.hpp"

#include "tests/unit/analysis/fleet/fleet_maker.hpp"

#include <gmock/gmock.h>

#include <filesystem>

namespace sonde {
namespace {

using maker::dram;
using maker::read;
using testing::HasSubstr;
using testing::IsEmpty;

class ReferencesTest : public testing::Test {
 protected:
  ReferencesTest() {
    const DeviceInfo& info = run.devices[0].info;
    const double reads = std::get<double>(maker::finding_of(run.devices[0], read).value);
    const double cycles = std::get<double>(maker::finding_of(run.devices[0], dram).value);
    references = {{.name = info.name,
                   .memory_bytes = info.memory_bytes,
                   .gpus = 3,
                   .sources = {"docs/results/some.txt"},
                   .values = {{read, {0.99 * reads, 1.01 * reads}},
                              {dram, {cycles, cycles}},
                              {"device.sm_count", {132, 132}}}}};
    options.references = references;
  }

  void scale(std::size_t device, const char* metric, double factor) {
    std::get<double>(maker::finding_of(run.devices[device], metric).value) *= factor;
  }

  std::vector<Charge> findings() { return reduce_fleet(run, options).charges; }

  RunResult run = maker::healthy_fleet(1, 3);
  std::vector<ModelReference> references;
  ReduceOptions options = maker::options();
};

TEST_F(ReferencesTest, a_gpu_like_those_before_passes_and_it_is_said_whom_it_was_held_against) {
  const FleetAnalysis analysis = reduce_fleet(run, options);
  EXPECT_THAT(analysis.charges, IsEmpty());
  ASSERT_NE(analysis.groups[0].reference, nullptr);
  EXPECT_EQ(analysis.groups[0].reference->gpus, 3u);

  scale(0, read, 1.2);   // better
  scale(0, dram, 1.04);  // within the tolerance
  EXPECT_THAT(findings(), IsEmpty());
}

TEST_F(ReferencesTest, what_is_worse_than_all_of_them_warns_and_at_twice_the_tolerance_fails) {
  scale(0, read, 0.93);  // 6.1 % below the lowest
  std::vector<Charge> found = findings();
  ASSERT_EQ(found.size(), 1u);
  EXPECT_EQ(found[0].metric, read);
  EXPECT_EQ(found[0].severity, Severity::warn);
  EXPECT_EQ(found[0].trouble, Trouble::memory_rate);
  EXPECT_THAT(found[0].reason, HasSubstr("6.1 % below the values of 3 other GPUs of this model"));
  EXPECT_THAT(found[0].evidence, HasSubstr("docs/results/some.txt"));

  scale(0, read, 0.9);
  const FleetAnalysis analysis = reduce_fleet(run, options);
  EXPECT_EQ(analysis.charges.at(0).severity, Severity::fail);
  EXPECT_EQ(analysis.verdicts[0].verdict, Verdict::fail);
}

TEST_F(ReferencesTest, counts_differ_in_both_directions) {
  for (const double sms : {116.0, 144.0}) {
    maker::finding_of(run.devices[0], "device.sm_count").value = sms;
    EXPECT_EQ(findings().at(0).metric, "device.sm_count") << sms;
  }
}

TEST_F(ReferencesTest, a_value_that_scatters_as_much_is_not_judged) {
  scale(0, read, 0.93);
  Finding& finding = maker::finding_of(run.devices[0], read);
  finding.reproducibility = 0.1 * std::get<double>(finding.value);
  finding.replicates = 4;
  EXPECT_THAT(findings(), IsEmpty());
}

TEST_F(ReferencesTest, neither_another_model_nor_a_group_nor_other_settings_are_held_against_it) {
  scale(0, read, 0.5);
  EXPECT_FALSE(findings().empty());
  run.provenance.config_json = R"({"set": ["latency.carveout_bytes=64KiB"]})";
  EXPECT_THAT(findings(), IsEmpty());
  run.provenance.config_json = R"({"set": [], "sms": []})";
  EXPECT_FALSE(findings().empty());
  references[0].memory_bytes += references[0].memory_bytes / 100;
  EXPECT_THAT(findings(), IsEmpty());
  references[0].memory_bytes = run.devices[0].info.memory_bytes;
  references[0].name += " NVL";
  EXPECT_THAT(findings(), IsEmpty());
}

TEST_F(ReferencesTest, a_fleet_is_held_against_them_however_many_agree) {
  run = maker::healthy_fleet(3, 3);
  for (std::size_t device = 0; device < 3; ++device) scale(device, read, 0.5);
  EXPECT_EQ(reduce_fleet(run, options).counts.failed, 3u);
}

TEST(ShippedReferencesTest, each_value_is_a_band_of_a_metric_and_each_source_is_there) {
  ASSERT_FALSE(shipped_references().empty());
  for (const ModelReference& model : shipped_references()) {
    EXPECT_GE(model.gpus, 3u) << model.name;
    for (const std::string& source : model.sources) {
      EXPECT_TRUE(std::filesystem::exists(std::filesystem::path(SONDE_SOURCE_DIR) / source));
    }
    EXPECT_GT(model.values.size(), 100u) << model.name;
    for (const auto& [name, band] : model.values) {
      const Metric* metric = find_metric(name);
      ASSERT_NE(metric, nullptr) << name;
      EXPECT_EQ(metric->not_compared, "") << name;
      EXPECT_TRUE(0 < band.low && band.low <= band.high) << name;
    }
  }
}

}  // namespace
}  // namespace sonde
