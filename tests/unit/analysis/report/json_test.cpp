#include "analysis/fleet/verdict/reduce.hpp"
#include "analysis/report/report.hpp"

#include "unit/analysis/report/reported_fleets.hpp"

#include <gmock/gmock.h>
#include <nlohmann/json.hpp>

#include <cmath>
#include <string>
#include <utility>

namespace sonde {
namespace {

using ::testing::HasSubstr;

TEST(JsonTest, has_the_shape_of_schema_1) {
  const auto [run, analysis] = rendered(spoiled_fleet());

  const auto json = nlohmann::ordered_json::parse(text_of(write_json, run, analysis));

  EXPECT_EQ(json.at("schema"), 1);
  ASSERT_EQ(json.at("devices").size(), 4u);
  const auto& device = json.at("devices").at(2);
  EXPECT_EQ(device.at("uuid"), run.devices[2].info.uuid);
  EXPECT_EQ(device.at("name"), "NVIDIA H200");
  EXPECT_EQ(device.at("node"), "node01");
  EXPECT_EQ(device.at("rank"), 2);
  EXPECT_EQ(device.at("status"), "complete");
  EXPECT_EQ(device.at("verdict"), "fail");
  const auto& size = device.at("findings").at("cache.l1.size_bytes");
  EXPECT_EQ(size.at("value").dump(), "196608");  // whole numbers have no point
  EXPECT_EQ(size.at("unit"), "byte");
  EXPECT_EQ(size.at("status"), "ok");
  EXPECT_EQ(size.at("confidence"), 0.99);
  EXPECT_EQ(size.at("samples"), 4000);
  EXPECT_EQ(device.at("findings").at("cache.l1.replacement").at("value"), "lru");
  EXPECT_EQ(device.at("findings").at("placement.l1_latency_cycles").at("value").size(), 132u);
  const auto& gap = json.at("devices").at(0).at("findings").at("cache.l1.replacement");
  EXPECT_TRUE(gap.at("value").is_null());
  EXPECT_EQ(gap.at("status"), "not_resolvable");
}

TEST(NotesTest, a_metric_that_is_not_judged_is_named_once_in_every_report) {
  RunResult scattering = maker::healthy_fleet(4, 7);
  for (DeviceResult& device : scattering.devices) {
    Finding& read = maker::finding_of(device, "global.read_bytes_per_s");
    read.reproducibility = 0.04 * 4.5e12;
    read.replicates = 5;
  }
  const auto [run, analysis] = rendered(std::move(scattering));
  const std::string note = "global.read_bytes_per_s: not judged: its tolerance of 3 %";

  EXPECT_EQ(analysis.counts.passed, 4u);
  EXPECT_THAT(render_terminal(run, analysis), HasSubstr("\n  " + note));
  EXPECT_THAT(render_html(run, analysis), HasSubstr("<li>" + note));
  const auto flags = nlohmann::ordered_json::parse(text_of(write_json, run, analysis)).at("flags");
  ASSERT_EQ(flags.size(), 1u);
  EXPECT_EQ(flags.at(0).at("metric"), "global.read_bytes_per_s");
  EXPECT_TRUE(flags.at(0).at("uuid").is_null());
}

TEST(JsonTest, fleet_has_statistics_by_metric_and_group) {
  const auto [run, analysis] = rendered(spoiled_fleet());

  const auto json = nlohmann::ordered_json::parse(text_of(write_json, run, analysis));

  bool seen = false;
  for (const auto& row : json.at("fleet")) {
    if (row.at("metric") != "global.read_bytes_per_s") continue;
    seen = true;
    EXPECT_EQ(row.at("n"), 4);
    EXPECT_EQ(row.at("furthest").at(0).at("rank"), 2);
    EXPECT_NEAR(row.at("furthest").at(0).at("deviation_fraction"), -0.2, 0.01);
    EXPECT_TRUE(row.at("threshold").is_null());
  }
  EXPECT_TRUE(seen);
  EXPECT_EQ(json.at("flags").at(0).at("severity"), "fail");
}

TEST(JsonTest, what_is_no_number_becomes_null) {
  RunResult run = maker::healthy_fleet(1, 7);
  maker::finding_of(run.devices[0], "latency.l1_cycles").value = std::nan("");
  run.devices[0].jobs[0].reason = "bad byte \xff";

  const auto text = text_of(write_json, run, reduce_fleet(run, maker::options()));

  const auto json = nlohmann::json::parse(text);
  EXPECT_TRUE(
      json.at("devices").at(0).at("findings").at("latency.l1_cycles").at("value").is_null());
}

}  // namespace
}  // namespace sonde
