#include "analysis/report/content.hpp"
#include "analysis/report/report.hpp"

#include "unit/analysis/report/reported_fleets.hpp"

#include <gmock/gmock.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <cstdlib>
#include <fstream>
#include <optional>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

namespace sonde {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::StartsWith;

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

TEST(TerminalTest, what_differs_from_peers_and_from_a_baseline_is_named_once) {
  auto [run, analysis] = rendered(spoiled_fleet());
  const auto also_of = [&, &run = run, &analysis = analysis] {
    const std::vector<Problem> wrong = problems(run, analysis);
    const auto problem = std::ranges::find(wrong, std::optional<std::size_t>(2), &Problem::device);
    const auto line = std::ranges::find(problem->lines, "also", &Problem::Line::label);
    return line->text;
  };
  const std::string before = also_of();
  EXPECT_EQ(before, "global.read_bytes_per_s -20 %");

  std::vector<std::size_t>& findings = analysis.verdicts[2].charges;
  for (const std::size_t one : std::vector<std::size_t>(findings)) {
    findings.push_back(analysis.charges.size());
    analysis.charges.push_back(Charge(analysis.charges[one]));
  }
  EXPECT_EQ(also_of(), before);
}

TEST(TerminalTest, a_second_trouble_of_a_gpu_is_named_however_often_the_first_shows) {
  auto [run, analysis] = rendered(spoiled_fleet());
  std::vector<std::size_t>& of_device = analysis.verdicts[2].charges;
  const auto add = [&, &analysis = analysis](const std::string& metric, Unit unit) {
    Charge charge = analysis.charges[of_device.front()];
    charge.metric = metric;
    charge.unit = std::move(unit);
    of_device.push_back(analysis.charges.size());
    analysis.charges.push_back(std::move(charge));
  };
  for (const char* metric : {"global.a", "global.b", "global.c", "global.d", "global.e"}) {
    add(metric, {});
  }
  add("placement.l1_latency_cycles", {.kind = Unit::Kind::sm, .numbers = {3}});
  add("placement.shared_latency_cycles", {.kind = Unit::Kind::sm, .numbers = {3}});
  add("cache.l2.slice_latency_cycles", {.kind = Unit::Kind::slice, .numbers = {5}});

  const std::vector<Problem> wrong = problems(run, analysis);
  const auto problem = std::ranges::find(wrong, std::optional<std::size_t>(2), &Problem::device);
  const auto also = std::ranges::find(problem->lines, "also", &Problem::Line::label);
  EXPECT_THAT(also->text, StartsWith("placement.l1_latency_cycles SM 3; "
                                     "cache.l2.slice_latency_cycles slice 5; "));
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
              StartsWith("ALL WELL: 4 GPUs passed. Not measured: one\n"));
  EXPECT_THAT(render_html(run, analysis), HasSubstr("4 GPUs passed. Not measured: one</h1>"));

  for (const char* job : {"two", "three", "four", "five", "six", "seven", "eight"}) {
    registry.push_back(metric_of(job));
  }
  analysis.registry = registry;
  EXPECT_THAT(render_terminal(run, analysis),
              HasSubstr(". Not measured: one, two, three, four, five, six and 2 more\n"));
  analysis.registry = {registry.data(), 1};
  EXPECT_THAT(render_terminal(run, analysis), Not(HasSubstr("Not measured")));
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
  EXPECT_THAT(text, HasSubstr("modes 620 cycle and 680 cycle; gradual loss from 600 cycle to 700"));
  EXPECT_THAT(text, Not(HasSubstr("4321")));
  const auto json = nlohmann::json::parse(text_of(write_json, run, analysis));
  const auto& finding = json.at("devices").at(0).at("findings").at("latency.dram_cycles");
  EXPECT_EQ(finding.at("reproducibility"), 2.5);
  EXPECT_EQ(finding.at("replicates"), 7);
  EXPECT_EQ(finding.at("modes"), (std::vector<double>{620, 680}));
  EXPECT_EQ(finding.at("interval"), (std::vector<double>{600, 700}));
  EXPECT_THAT(text_of(write_csv, run, analysis), HasSubstr(",4321,0.125,2.5,7,620 680,600 700,"));
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
  EXPECT_THAT(
      text,
      HasSubstr("no peers in this run, no reference values of this model, memory and settings"));
  EXPECT_THAT(text, ::testing::ContainsRegex("latency.dram_cycles +6[0-9]+ cycle +8 cycle +512"));
  EXPECT_THAT(text, ::testing::ContainsRegex("cache.l1.replacement +not resolvable .*3 policies"));
}

std::string summary_of(RunResult fleet) {
  const auto [run, analysis] = rendered(std::move(fleet));
  return render_terminal(run, analysis, Colour::off, 0, Detail::summary);
}

TEST(TerminalTest, a_summary_has_key_numbers_and_structure_and_leaves_values_to_the_export) {
  RunResult fleet = maker::healthy_fleet(4, 7);
  for (std::size_t i = 0; i < fleet.devices.size(); ++i) {
    const double rate = 4e12 + 1e11 * static_cast<double>(i);
    maker::finding_of(fleet.devices[i], "global.read_bytes_per_s").value = rate;
    std::vector<Finding>& findings = fleet.devices[i].jobs[0].findings;
    findings.push_back(found("global.theoretical_bytes_per_s", 5e12, 1, 1));
    findings.push_back(found("cache.l1.ways", 4.0, 0.5, 1));
    findings.push_back(not_resolvable("cache.constant_l3.size_bytes", "noise"));
  }
  const std::string text = summary_of(std::move(fleet));
  EXPECT_THAT(
      text, HasSubstr("KEY NUMBERS: NVIDIA H200, 140 GiB, ECC on, driver 550, median of 4 GPUs\n"));
  EXPECT_THAT(
      text, ::testing::ContainsRegex("memory, read +4.15 TB/s +4 TB/s to 4.3 TB/s +5 TB/s +83 %"));
  EXPECT_THAT(text, ::testing::ContainsRegex("\n  L2, size +60 MiB"));
  EXPECT_THAT(text, ::testing::ContainsRegex("\n +L1 +192 KiB +4 .confidence 0.50."));
  for (const char* left_out : {"METRICS of", "noise", "TIME", "config", "sure to"}) {
    EXPECT_THAT(text, Not(HasSubstr(left_out)));
  }
}

TEST(TerminalTest, a_summary_of_64_gpus_with_three_bad_ones_fits_on_a_page) {
  RunResult fleet = maker::healthy_fleet(64, 7);
  maker::slow_sm(fleet.devices[40], "placement.l1_latency_cycles", 17, 4);
  fleet.devices[50].status = DeviceOutcome::lost;
  std::get<double>(maker::finding_of(fleet.devices[9], "global.read_bytes_per_s").value) *= 0.8;
  const std::string text = summary_of(std::move(fleet));
  EXPECT_THAT(text, StartsWith("Of 64 GPUs: 2 FAILED, 1 LOST"));
  EXPECT_LE(std::ranges::count(text, '\n'), 60) << text;
  EXPECT_THAT(text, Not(HasSubstr("STRUCTURE"))) << "troubles first";
  EXPECT_THAT(text, Not(HasSubstr("dcgmi diag"))) << "the two most useful acts";
  EXPECT_LE(std::ranges::count(summary_of(maker::healthy_fleet(1, 7)), '\n'), 45);
}

TEST(KeyNumbersTest, the_theoretical_rate_is_the_next_power_of_two_but_for_noise) {
  for (const auto& [per_cycle, lanes] :
       {std::pair{126.0, 128.0}, std::pair{129.0, 128.0}, std::pair{135.0, 256.0}}) {
    DeviceResult device;
    device.info.sm_count = 2;
    device.jobs.push_back(
        maker::job("arithmetic",
                   {found("device.max_sm_clock_hz", 1e9, 1, 1),
                    found("arithmetic.float_fma.throughput_per_cycle_per_sm", per_cycle, 1, 1)}));
    const std::vector<FlopRate> rates = flop_rates(device);
    ASSERT_EQ(rates.size(), 1u);
    EXPECT_DOUBLE_EQ(rates[0].per_s, 4e9 * per_cycle);
    EXPECT_DOUBLE_EQ(rates[0].theoretical_per_s, 4e9 * lanes) << per_cycle;
  }
}

TEST(TerminalTest, lost_unmeasured_and_incomplete_devices_are_in_the_headline) {
  RunResult gaps = maker::healthy_fleet(4, 7);
  gaps.devices[1].status = DeviceOutcome::lost;
  gaps.devices[2].jobs[1].findings[1].status = Status::failed;
  gaps.unaudited.push_back({"node01", "GPU-unseen"});

  const auto [run, analysis] = rendered(std::move(gaps));
  const std::string text = render_terminal(run, analysis);

  EXPECT_THAT(text, StartsWith("Of 5 GPUs: 1 LOST, 1 NOT MEASURED, 1 RESULT MISSING\n"));
  EXPECT_THAT(text, HasSubstr("GPU-unseen"));
}

}  // namespace
}  // namespace sonde
