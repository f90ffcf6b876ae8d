#include "analysis/fleet/verdict/reduce.hpp"
#include "analysis/report/report.hpp"

#include "unit/analysis/report/reported_fleets.hpp"

#include <gmock/gmock.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <cmath>
#include <string>
#include <utility>
#include <vector>

namespace sonde {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

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
  const auto row = std::ranges::find_if(json.at("fleet"), [](const auto& one) {
    return one.at("metric") == "global.read_bytes_per_s";
  });
  EXPECT_EQ(row->at("n"), 4);
  EXPECT_EQ(row->at("furthest").at(0).at("rank"), 2);
  EXPECT_NEAR(row->at("furthest").at(0).at("deviation_fraction"), -0.2, 0.01);
  EXPECT_TRUE(row->at("threshold").is_null());
  EXPECT_EQ(json.at("flags").at(0).at("severity"), "fail");
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

TEST(JsonTest, what_is_no_number_becomes_null) {
  RunResult run = maker::healthy_fleet(1, 7);
  maker::finding_of(run.devices[0], "latency.l1_cycles").value = std::nan("");
  run.devices[0].jobs[0].reason = "bad byte \xff";

  const auto text = text_of(write_json, run, reduce_fleet(run, maker::options()));

  const auto json = nlohmann::json::parse(text);
  EXPECT_TRUE(
      json.at("devices").at(0).at("findings").at("latency.l1_cycles").at("value").is_null());
}

TEST(CsvTest, has_a_row_per_finding_with_vectors_and_gradual_edges_in_a_cell_and_escapes_quotes) {
  RunResult spoiled = spoiled_fleet();
  maker::finding_of(spoiled.devices[1], "cache.l2.size_bytes").interval = {.low = 57, .high = 60};
  maker::finding_of(spoiled.devices[0], "placement.l1_latency_cycles").value =
      std::vector<double>{-31.5, 32, std::nan("")};
  const auto [run, analysis] = rendered(std::move(spoiled));

  const std::string text = text_of(write_csv, run, analysis);

  EXPECT_THAT(text, HasSubstr(",metric,value,unit,"));
  EXPECT_THAT(text, HasSubstr(",placement.l1_latency_cycles,'-31.5 32 nan,cycle,"));
  EXPECT_THAT(text, HasSubstr("\"3 policies fit, \"\"lru\"\" among them\""));
  EXPECT_THAT(text, HasSubstr(",57 60,"));
}

TEST(PrometheusTest, samples_have_labels_and_no_timestamps) {
  const auto [run, analysis] = rendered(spoiled_fleet());

  const std::string text = text_of(write_prometheus, run, analysis);

  EXPECT_THAT(text, HasSubstr("# TYPE sonde_cache_l1_size_bytes gauge\n"));
  EXPECT_THAT(text, HasSubstr("sonde_cache_l1_size_bytes{UUID=\"" + run.devices[0].info.uuid +
                              "\",Hostname=\"node01\"} 196608\n"));
  EXPECT_THAT(text, HasSubstr("sonde_last_run_timestamp_seconds 1763691247\n"));
}

// A verdict that changes must stay one series; slot and cause stand in series of their own.
TEST(PrometheusTest, verdict_keeps_its_identity_when_the_cause_changes) {
  const auto [run, analysis] = rendered(spoiled_fleet());
  const auto with_another_cause = [&](FleetAnalysis changed) {
    for (DeviceVerdict& verdict : changed.verdicts) verdict.likely = Trouble::memory_rate;
    return text_of(write_prometheus, run, changed);
  };
  const auto verdicts = [](const std::string& text) {
    const auto begin = text.find("sonde_device_verdict{");
    return text.substr(begin, text.find("# HELP", begin) - begin);
  };

  const std::string text = text_of(write_prometheus, run, analysis);

  EXPECT_EQ(verdicts(text), verdicts(with_another_cause(analysis)));
  const std::string identity = "UUID=\"" + run.devices[0].info.uuid + "\",Hostname=\"node01\"";
  EXPECT_THAT(verdicts(text), HasSubstr("sonde_device_verdict{" + identity + "} "));
  EXPECT_THAT(text, HasSubstr("sonde_device_info{" + identity +
                              ",pci_bus_id=\"00000000:18:00.0\",serial=\""));
  EXPECT_THAT(with_another_cause(analysis), HasSubstr(",likely=\"memory\"} 1\n"));
}

TEST(JunitTest, failed_device_is_a_failure_and_lost_one_an_error) {
  RunResult bad = spoiled_fleet();
  bad.devices[1].status = DeviceOutcome::lost;
  bad.devices[1].reason = "no sign of life <120 s>";

  const auto [run, analysis] = rendered(std::move(bad));
  const std::string text = text_of(write_junit, run, analysis);

  EXPECT_THAT(text, HasSubstr("failures=\"2\" errors=\"1\""));
  EXPECT_THAT(text, HasSubstr("<error message=\"no sign of life &lt;120 s&gt;\"/>"));
}

TEST(JunitTest, a_node_that_lacks_a_gpu_is_a_failure) {
  RunResult lacking = maker::healthy_fleet(12, 1);
  lacking.devices.pop_back();

  const auto [run, analysis] = rendered(std::move(lacking));

  EXPECT_THAT(
      text_of(write_junit, run, analysis),
      HasSubstr("<testcase classname=\"node03\" name=\"health.gpus_on_node\" time=\"0.000\">"
                "<failure message=\"3 GPUs where most of the 3 nodes have 4\"/>"));
}

TEST(ActionsTest, lists_name_only_nodes_that_fail) {
  RunResult bad = maker::healthy_fleet(8, 7);
  maker::scale_finding(bad.devices[5], "global.read_bytes_per_s", 0.8);

  const auto [run, analysis] = rendered(std::move(bad));

  EXPECT_THAT(
      commands_to_paste(run, analysis),
      ElementsAre("--exclude=node02",
                  "scontrol update nodename=node02 state=drain reason=\"sonde: verdict=fail gpu=" +
                      run.devices[5].info.uuid + " class=memory\""));
  const Rendered well = rendered(maker::healthy_fleet(8, 7));
  EXPECT_THAT(commands_to_paste(well.run, well.analysis), IsEmpty());
}

}  // namespace
}  // namespace sonde
