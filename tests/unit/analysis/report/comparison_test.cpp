// `sonde compare --format json`.
#include "analysis/fleet/grounds/grounds.hpp"
#include "analysis/report/report.hpp"

#include "unit/analysis/report/reported_fleets.hpp"

#include <gmock/gmock.h>
#include <nlohmann/json.hpp>

#include <string>

namespace sonde {
namespace {

nlohmann::json json_of_changes(const RunResult& before, const RunResult& after) {
  return nlohmann::json::parse(
      render_comparison_json(compare_runs(before, after, maker::registry)));
}

TEST(ComparisonJsonTest, each_change_has_its_values_and_why_it_is_one) {
  const RunResult before = maker::healthy_fleet(2, 1);
  RunResult after = before;
  maker::finding_of(after.devices[0], "global.read_bytes_per_s").value = 4e12;
  maker::finding_of(after.devices[1], "cache.l1.size_bytes") =
      not_present("cache.l1.size_bytes", "");
  maker::scale_finding(after.devices[1], "global.write_bytes_per_s", 1.1);

  const nlohmann::json json = json_of_changes(before, after);

  EXPECT_EQ(json.at("schema"), 1);
  EXPECT_EQ(json.at("counts"),
            nlohmann::json({{"gpus", 2}, {"changes", 3}, {"info", 1}, {"warn", 0}, {"fail", 2}}));
  const nlohmann::json& size = json.at("changes").at(0);
  EXPECT_EQ(size.at("uuid"), before.devices[1].info.uuid);
  EXPECT_EQ(size.at("before").dump(), "196608");
  for (const char* field : {"after", "change_fraction", "place"}) {
    EXPECT_TRUE(size.at(field).is_null()) << field;
  }
  EXPECT_EQ(size.at("tolerance"), 0.03);
  const nlohmann::json& read = json.at("changes").at(1);
  const double first = *number_of(before.devices[0], "global.read_bytes_per_s");
  EXPECT_EQ(read.at("uuid"), before.devices[0].info.uuid);
  EXPECT_EQ(read.at("node"), "node01");
  EXPECT_EQ(read.at("setting"), "");
  EXPECT_EQ(read.at("metric"), "global.read_bytes_per_s");
  EXPECT_EQ(read.at("unit"), "byte/s");
  EXPECT_EQ(read.at("before"), first);
  EXPECT_EQ(read.at("after").dump(), "4000000000000");
  EXPECT_NEAR(read.at("change_fraction").get<double>(), 4e12 / first - 1, 1e-12);
  EXPECT_EQ(read.at("tolerance"), 0.03);
  EXPECT_EQ(read.at("severity"), "fail");
  EXPECT_EQ(read.at("reason"), "11 % less than before");
  EXPECT_EQ(json.at("changes").at(2).at("severity"), "info");
}

TEST(ComparisonJsonTest, structure_is_exact_and_a_map_names_its_place) {
  const RunResult before = maker::healthy_fleet(1, 1);
  RunResult after = before;
  maker::finding_of(after.devices[0], "cache.l1.replacement").value = std::string("fifo");
  maker::slow_sm(after.devices[0], "placement.l2_latency_cycles", 99, 15);

  const nlohmann::json changes = json_of_changes(before, after).at("changes");

  EXPECT_EQ(changes.at(0).at("before"), "lru");
  EXPECT_EQ(changes.at(0).at("after"), "fifo");
  EXPECT_TRUE(changes.at(0).at("tolerance").is_null());
  EXPECT_EQ(changes.at(1).at("place"), 99);
  EXPECT_EQ(changes.at(1).at("after"), changes.at(1).at("before").get<double>() + 15);
}

TEST(ComparisonJsonTest, gpus_of_one_run_and_settings_are_named) {
  const RunResult before = swept_fleet();
  RunResult after = before;
  maker::scale_finding(after.devices[4], "global.read_bytes_per_s", 0.8);
  EXPECT_EQ(json_of_changes(before, after).at("changes").at(0).at("setting"), "memory-percent=100");

  after.devices.erase(after.devices.begin());
  const nlohmann::json json = json_of_changes(before, after);

  EXPECT_EQ(json.at("only_before"),
            nlohmann::json::array({before.devices[0].info.uuid + " (memory-percent=50)"}));
  EXPECT_TRUE(json.at("only_after").empty());
}

}  // namespace
}  // namespace sonde
