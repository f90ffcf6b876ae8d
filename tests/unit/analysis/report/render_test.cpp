#include "analysis/fleet/reduce.hpp"
#include "analysis/report/report.hpp"

#include "unit/analysis/fleet/fleet_maker.hpp"

#include <gmock/gmock.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <cmath>
#include <fstream>
#include <sstream>
#include <string>

namespace sonde {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::StartsWith;

/// Four devices, of which one is slow in memory, one has a slow SM, and one has a gap.
RunResult spoiled_fleet() {
  RunResult run = maker::healthy_fleet(4, 7);
  maker::scale_finding(run.devices[2], "global.read_bytes_per_s", 0.8);
  maker::scale_finding(run.devices[2], "global.write_bytes_per_s", 0.8);
  maker::slow_sm(run.devices[3], "placement.l1_latency_cycles", 17, 3);
  maker::finding_of(run.devices[0], "cache.l1.replacement") =
      not_resolvable("cache.l1.replacement", "3 policies fit, \"lru\" among them");
  return run;
}

struct Rendered {
  RunResult run;
  FleetAnalysis analysis;
};

Rendered rendered(RunResult run) {
  Rendered both{std::move(run), {}};
  both.analysis = reduce_fleet(both.run, maker::options());
  return both;
}

std::string read_file(const std::string& path) {
  std::ifstream file(path);
  std::stringstream text;
  text << file.rdbuf();
  return text.str();
}

TEST(TerminalTest, spoiled_fleet_reads_as_the_golden_file) {
  const auto [run, analysis] = rendered(spoiled_fleet());
  const std::string path = std::string(SONDE_GOLDEN_DIR) + "/fleet_of_four.txt";

  const std::string text = render_terminal(run, analysis);

  if (std::getenv("REGENERATE_GOLDEN") != nullptr) std::ofstream(path) << text;
  EXPECT_EQ(text, read_file(path));
}

TEST(TerminalTest, what_is_wrong_comes_before_all_tables) {
  const auto [run, analysis] = rendered(spoiled_fleet());

  const std::string text = render_terminal(run, analysis);

  EXPECT_THAT(text, StartsWith("Of 4 GPUs: 2 FAILED\n"));
  EXPECT_LT(text.find(run.devices[2].info.uuid), text.find("METRICS"));
  EXPECT_LT(text.find("node01 rank 2"), text.find("METRICS"));
  EXPECT_LT(text.find("SM 17"), text.find("METRICS"));
}

TEST(TerminalTest, of_more_than_a_node_those_that_pass_are_folded) {
  const auto [run, analysis] = rendered(maker::healthy_fleet(9, 1));
  const auto [node, of_node] = rendered(maker::healthy_fleet(8, 1));

  EXPECT_THAT(render_terminal(run, analysis), HasSubstr("DEVICES\n  and 9 that pass\n"));
  EXPECT_THAT(render_terminal(node, of_node), HasSubstr(node.devices[7].info.uuid));
}

TEST(TerminalTest, jobs_that_no_device_ran_are_named) {
  auto [run, analysis] = rendered(maker::healthy_fleet(4, 1));
  const auto metric_of = [](std::string_view job) {
    return Metric{"x", "1", MetricKind::continuous, Better::lower, job, "", ""};
  };
  run.devices[2].jobs.emplace_back().job = "ran_on_one";
  std::vector<Metric> registry{metric_of("ran_on_one"), metric_of("one"), metric_of("one")};
  analysis.registry = registry;
  EXPECT_THAT(render_terminal(run, analysis),
              HasSubstr("\nNot looked at: one (what each is for: sonde list jobs)\n"));
  EXPECT_THAT(render_markdown(run, analysis),
              HasSubstr("\nNot looked at: one (what each is for: sonde list jobs)\n"));
  EXPECT_THAT(render_html(run, analysis), HasSubstr("Not looked at: one ("));

  for (const char* job : {"two", "three", "four", "five", "six", "seven", "eight"}) {
    registry.push_back(metric_of(job));
  }
  analysis.registry = registry;
  EXPECT_THAT(render_terminal(run, analysis),
              HasSubstr("\nNot looked at: one, two, three, four, five, six and 2 more jobs (what "
                        "each is for: sonde list jobs)\n"));
  analysis.registry = {registry.data(), 1};
  EXPECT_THAT(render_terminal(run, analysis), Not(HasSubstr("Not looked at")));
}

TEST(TerminalTest, tables_are_as_wide_as_the_terminal) {
  const auto [run, analysis] = rendered(spoiled_fleet());
  const std::string text = render_terminal(run, analysis, Colour::off, 100);
  const std::string devices =
      text.substr(text.find("\nDEVICES"), text.find("\nMETRICS") - text.find("\nDEVICES"));

  std::istringstream lines(devices);
  for (std::string line; std::getline(lines, line);) EXPECT_LE(line.size(), 130u) << line;
  EXPECT_GT(std::ranges::count(devices, '\n'), 7);
}

TEST(TerminalTest, colour_is_off_unless_asked_for) {
  const auto [run, analysis] = rendered(spoiled_fleet());

  EXPECT_THAT(render_terminal(run, analysis), Not(HasSubstr("\x1b")));
  EXPECT_THAT(render_terminal(run, analysis, Colour::on), HasSubstr("\x1b[1;31mFAIL\x1b[0m"));
}

TEST(TerminalTest, replicated_findings_show_how_replicates_differ) {
  RunResult lone = maker::healthy_fleet(1, 7);
  Finding& latency = maker::finding_of(lone.devices[0], "latency.dram_cycles");
  latency.samples = 4321;
  latency.repeatability = 0.125;
  latency.reproducibility = 2.5;
  latency.replicates = 7;
  latency.modes = {620, 680};
  latency.interval = Interval{600, 700};
  const auto [run, analysis] = rendered(lone);

  const std::string text = render_terminal(run, analysis);

  EXPECT_THAT(text, testing::ContainsRegex("latency.dram_cycles .* 2.5 cycle +7 "));
  EXPECT_THAT(text, HasSubstr("modes 620 cycle and 680 cycle; gradual edge from 600 cycle to 700"));
  EXPECT_THAT(text, Not(HasSubstr("4321")));
  const auto json = nlohmann::json::parse(render_json(run, analysis));
  const auto& finding = json.at("devices").at(0).at("findings").at("latency.dram_cycles");
  EXPECT_EQ(finding.at("reproducibility"), 2.5);
  EXPECT_EQ(finding.at("replicates"), 7);
  EXPECT_EQ(finding.at("modes"), (std::vector<double>{620, 680}));
  EXPECT_EQ(finding.at("interval"), (std::vector<double>{600, 700}));
  EXPECT_THAT(render_csv_long(run, analysis), HasSubstr(",4321,0.125,2.5,7,620 680,600,700,"));
}

TEST(TerminalTest, time_of_each_job_is_the_median_of_the_devices) {
  RunResult fleet = maker::healthy_fleet(3, 7);
  for (std::size_t i = 0; i < 3; ++i) {
    for (JobResult& job : fleet.devices[i].jobs) job.elapsed_s = job.device_s = 0;
    JobResult& job = fleet.devices[i].jobs.at(0);
    job.job = "tlb";
    job.elapsed_s = std::vector{2.0, 9.0, 4.0}[i];
    job.device_s = std::vector{0.5, 1.0, 3.0}[i];
  }
  const auto [run, analysis] = rendered(fleet);

  EXPECT_THAT(render_terminal(run, analysis), testing::ContainsRegex("tlb +4.00 +25 %"));
  EXPECT_THAT(render_html(run, analysis), HasSubstr("<h2>Time (median of the devices)</h2>"));
}

TEST(TerminalTest, single_device_gets_values_spreads_and_reasons) {
  RunResult lone = maker::healthy_fleet(1, 7);
  maker::finding_of(lone.devices[0], "cache.l1.replacement") =
      not_resolvable("cache.l1.replacement", "3 policies fit");

  const auto [run, analysis] = rendered(std::move(lone));
  const std::string text = render_terminal(run, analysis);

  EXPECT_THAT(text, StartsWith("ALL WELL: 1 GPU passed\n"));
  EXPECT_THAT(text, HasSubstr("a GPU without peers, and no reference values of this model"));
  EXPECT_THAT(text, ::testing::ContainsRegex("latency.dram_cycles +6[0-9]+ cycle +8 cycle +512"));
  EXPECT_THAT(text, ::testing::ContainsRegex("cache.l1.replacement +not resolvable .*3 policies"));
}

TEST(TerminalTest, a_summary_draws_the_devices_in_words_and_leaves_values_to_the_export) {
  const auto [run, analysis] = rendered(maker::healthy_fleet(4, 7));
  const std::string text = render_terminal(run, analysis, Colour::off, 0, Detail::summary);
  EXPECT_THAT(text, HasSubstr(": what most of 4 say\n"));
  EXPECT_THAT(text, ::testing::ContainsRegex("    L2 +[0-9.]+ MiB"));
  EXPECT_THAT(text, Not(HasSubstr("METRICS of")));
  EXPECT_THAT(render_terminal(run, analysis), HasSubstr("METRICS of"));
}

TEST(TerminalTest, lost_and_unmeasured_devices_are_in_the_headline) {
  RunResult gaps = maker::healthy_fleet(4, 7);
  gaps.devices[1].status = DeviceOutcome::lost;
  gaps.unaudited.push_back({"node01", "GPU-unseen"});

  const auto [run, analysis] = rendered(std::move(gaps));
  const std::string text = render_terminal(run, analysis);

  EXPECT_THAT(text, StartsWith("Of 5 GPUs: 1 LOST, 1 NOT MEASURED\n"));
  EXPECT_THAT(text, HasSubstr("GPU-unseen"));
}

TEST(TerminalTest, missing_results_are_not_well) {
  RunResult gaps = maker::healthy_fleet(4, 7);
  gaps.devices[1].jobs[1].findings[1].status = Status::failed;

  const auto [run, analysis] = rendered(std::move(gaps));

  EXPECT_THAT(render_terminal(run, analysis), StartsWith("Of 4 GPUs: 1 RESULT MISSING\n"));
  EXPECT_EQ(exit_status(analysis), ExitStatus::incomplete);
}

TEST(JsonTest, has_the_shape_of_schema_1) {
  const auto [run, analysis] = rendered(spoiled_fleet());

  const auto json = nlohmann::ordered_json::parse(render_json(run, analysis));

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

/// The read throughput of replicates scatters by 4 %, and the edge of the L2 is gradual.
RunResult scattering_fleet() {
  RunResult run = maker::healthy_fleet(4, 7);
  for (DeviceResult& device : run.devices) {
    Finding& read = maker::finding_of(device, "global.read_bytes_per_s");
    read.reproducibility = 0.04 * 4.5e12;
    read.replicates = 5;
    Finding& size = maker::finding_of(device, "cache.l2.size_bytes");
    size.interval = {.low = 57.0 * (1 << 20), .high = 60.0 * (1 << 20)};
  }
  return run;
}

TEST(JsonTest, capacities_agree_as_intervals) {
  const auto [run, analysis] = rendered(scattering_fleet());

  const auto json = nlohmann::ordered_json::parse(render_json(run, analysis));

  for (const auto& row : json.at("fleet")) {
    if (row.at("metric") != "cache.l2.size_bytes") continue;
    EXPECT_EQ(row.at("kind"), "capacity");
    EXPECT_EQ(row.at("consensus"), "between 57 and 60 MiB");
    EXPECT_EQ(row.at("agreeing"), 4);
  }
}

TEST(NotesTest, a_metric_that_is_not_judged_is_named_once_in_every_report) {
  const auto [run, analysis] = rendered(scattering_fleet());
  const std::string note = "global.read_bytes_per_s: not judged: its tolerance of 3 %";

  EXPECT_EQ(analysis.counts.passed, 4u);
  EXPECT_THAT(render_terminal(run, analysis), HasSubstr("\n  " + note));
  EXPECT_THAT(render_html(run, analysis), HasSubstr("<li>" + note));
  EXPECT_THAT(render_markdown(run, analysis), HasSubstr("\n- " + note));
  const auto flags = nlohmann::ordered_json::parse(render_json(run, analysis)).at("flags");
  ASSERT_EQ(flags.size(), 1u);
  EXPECT_EQ(flags.at(0).at("metric"), "global.read_bytes_per_s");
  EXPECT_TRUE(flags.at(0).at("uuid").is_null());
}

TEST(JsonTest, fleet_has_statistics_by_metric_and_group) {
  const auto [run, analysis] = rendered(spoiled_fleet());

  const auto json = nlohmann::ordered_json::parse(render_json(run, analysis));

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

  const auto text = render_json(run, reduce_fleet(run, maker::options()));

  const auto json = nlohmann::json::parse(text);
  EXPECT_TRUE(
      json.at("devices").at(0).at("findings").at("latency.l1_cycles").at("value").is_null());
}

TEST(CsvTest, long_has_a_row_per_element_and_escapes_quotes) {
  const auto [run, analysis] = rendered(spoiled_fleet());

  const std::string text = render_csv_long(run, analysis);

  EXPECT_THAT(text, HasSubstr("placement.l1_latency_cycles,17,"));
  EXPECT_THAT(text, HasSubstr("\"3 policies fit, \"\"lru\"\" among them\""));
}

TEST(CsvTest, has_a_row_per_finding_with_the_elements_of_a_vector_in_a_cell) {
  RunResult lone = maker::healthy_fleet(1, 7);
  maker::finding_of(lone.devices[0], "placement.l1_latency_cycles").value =
      std::vector<double>{-31.5, 32, std::nan("")};
  const auto [run, analysis] = rendered(lone);

  const std::string text = render_csv(run, analysis);

  EXPECT_THAT(text, HasSubstr(",metric,value,unit,"));
  EXPECT_THAT(text, HasSubstr(",placement.l1_latency_cycles,'-31.5 32 nan,cycle,"));
}

TEST(MarkdownTest, escapes_what_would_break_a_table) {
  RunResult run = maker::healthy_fleet(1, 7);
  maker::finding_of(run.devices[0], "cache.l1.replacement").value = std::string("a|b");

  const std::string text = render_markdown(run, reduce_fleet(run, maker::options()));

  EXPECT_THAT(text, HasSubstr("| a\\|b |"));
}

TEST(PrometheusTest, samples_have_labels_and_no_timestamps) {
  const auto [run, analysis] = rendered(spoiled_fleet());

  const std::string text = render_prometheus(run, analysis);

  EXPECT_THAT(text, HasSubstr("# TYPE sonde_cache_l1_size_bytes gauge\n"));
  EXPECT_THAT(text, HasSubstr("sonde_cache_l1_size_bytes{UUID=\"" + run.devices[0].info.uuid +
                              "\",Hostname=\"node01\"} 196608\n"));
  EXPECT_THAT(text, HasSubstr("sonde_last_run_timestamp_seconds 1763691247\n"));
}

// A verdict that changes must stay one series; slot and cause stand in series of their own.
TEST(PrometheusTest, verdict_keeps_its_identity_when_the_cause_changes) {
  const auto [run, analysis] = rendered(spoiled_fleet());
  const auto with_another_cause = [&](FleetAnalysis changed) {
    for (DeviceVerdict& verdict : changed.verdicts) verdict.likely = FaultClass::memory;
    return render_prometheus(run, changed);
  };
  const auto verdicts = [](const std::string& text) {
    const auto begin = text.find("sonde_device_verdict{");
    return text.substr(begin, text.find("# HELP", begin) - begin);
  };

  const std::string text = render_prometheus(run, analysis);

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
  const std::string text = render_junit(run, analysis);

  EXPECT_THAT(text, HasSubstr("failures=\"2\" errors=\"1\""));
  EXPECT_THAT(text, HasSubstr("<error message=\"no sign of life &lt;120 s&gt;\"/>"));
}

TEST(ActionsTest, lists_name_only_nodes_that_fail) {
  RunResult bad = maker::healthy_fleet(8, 7);
  maker::scale_finding(bad.devices[5], "global.read_bytes_per_s", 0.8);

  const auto [run, analysis] = rendered(std::move(bad));

  EXPECT_EQ(render_exclude(run, analysis), "--exclude=node02");
  EXPECT_EQ(render_drain(run, analysis),
            "scontrol update nodename=node02 state=drain reason=\"sonde: verdict=fail gpu=" +
                run.devices[5].info.uuid + " class=memory\"\n");
  const Rendered well = rendered(maker::healthy_fleet(8, 7));
  EXPECT_EQ(render_exclude(well.run, well.analysis), "");
  EXPECT_EQ(render_drain(well.run, well.analysis), "");
}

TEST(MetricListTest, markdown_has_every_metric_under_its_job) {
  const std::string text = render_metric_list(ListFormat::markdown);

  for (const Metric& metric : all_metrics()) {
    EXPECT_THAT(text, HasSubstr("| " + std::string(metric.name) + " |"));
    EXPECT_THAT(text, HasSubstr("\n## " + std::string(metric.job) + "\n"));
  }
}

TEST(MetricListTest, every_name_is_registered_once) {
  for (const Metric& metric : all_metrics())
    EXPECT_EQ(find_metric(metric.name), &metric) << metric.name;
}

TEST(ComparisonTest, says_what_moved_and_where) {
  const RunResult before = maker::healthy_fleet(2, 1);
  RunResult after = before;
  maker::scale_finding(after.devices[1], "global.read_bytes_per_s", 0.9);

  const std::string text = render_comparison(compare_runs(before, after, maker::options()));

  EXPECT_THAT(text, StartsWith("2 GPUs in both runs, 1 changed value\n"));
  EXPECT_THAT(text, HasSubstr("10 % less than before"));
  EXPECT_THAT(text, HasSubstr(before.devices[1].info.uuid));
}

}  // namespace
}  // namespace sonde
