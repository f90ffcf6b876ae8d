// In a sweep a GPU stands in a row for each setting: every report says which.
#include "analysis/fleet/grounds/grounds.hpp"
#include "analysis/report/charts/charts.hpp"
#include "analysis/report/content.hpp"
#include "analysis/report/report.hpp"
#include "analysis/report/sweep_answer.hpp"

#include "unit/analysis/report/reported_fleets.hpp"

#include <gmock/gmock.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <regex>
#include <set>
#include <string>

namespace sonde {
namespace {

using ::testing::ElementsAre;
using ::testing::EndsWith;
using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::StartsWith;

std::size_t count_of(const std::string& text, const std::string& part) {
  std::size_t n = 0;
  for (std::size_t at = 0; (at = text.find(part, at)) != std::string::npos; ++at) ++n;
  return n;
}

std::vector<std::string> titles_of(const TextTable& table) {
  std::vector<std::string> titles;
  for (const TextTable::Column& column : table.columns) titles.push_back(column.title);
  return titles;
}

TEST(SweepReportTest, rows_of_devices_say_their_setting_and_those_of_a_plain_run_have_none) {
  const auto [run, analysis] = rendered(swept_fleet());
  const TextTable table = device_table(run, analysis);
  EXPECT_THAT(titles_of(table),
              ElementsAre("verdict", "node", "rank", "GPU", "setting", "likely", "reason"));
  EXPECT_EQ(std::set(table.rows.begin(), table.rows.end()).size(), 6u);
  EXPECT_EQ(table.rows.at(0).at(4), "memory-percent=50");
  EXPECT_EQ(table.rows.at(1).at(4), "memory-percent=100");

  const auto [plain, of_plain] = rendered(maker::healthy_fleet(3, 7));
  EXPECT_THAT(titles_of(device_table(plain, of_plain)),
              ElementsAre("verdict", "node", "rank", "GPU", "likely", "reason"));
  EXPECT_EQ(place_of(plain, plain.devices[0]), place_of(plain.devices[0]));
}

TEST(SweepReportTest, the_same_cause_at_two_settings_is_one_problem_that_names_both) {
  const auto [run, analysis] = rendered(swept_fleet());
  const std::vector<Problem> wrong = problems(run, analysis);
  ASSERT_EQ(wrong.size(), 1u);
  EXPECT_EQ(wrong[0].badge, "FAIL");
  EXPECT_THAT(wrong[0].where, EndsWith("  memory-percent=50"));
  EXPECT_EQ(wrong[0].lines.back().label, "also");
  EXPECT_EQ(wrong[0].lines.back().text, "likewise with memory-percent=100");

  RunResult worse = swept_fleet();
  maker::scale_finding(worse.devices[5], "global.read_bytes_per_s", 0.8);
  const auto [other, of_other] = rendered(std::move(worse));
  EXPECT_EQ(problems(other, of_other).at(0).device, 5u) << "the worst is told in full";
}

TEST(SweepReportTest, measuring_again_asks_for_the_setting) {
  RunResult swept = swept_fleet();
  swept.provenance.points[0].config_json =
      R"({"suite": "quick", "memory_percent": 50, "set": ["latency.carveout_bytes=8192", 3]})";
  const auto command_of = [](RunResult fleet) {
    const auto [run, analysis] = rendered(std::move(fleet));
    const std::vector<Problem> wrong = problems(run, analysis);
    for (const std::string& action : wrong.at(0).actions) {
      const std::size_t at = action.find("sonde run");
      if (at != std::string::npos) return action.substr(at);
    }
    return std::string("none");
  };

  EXPECT_EQ(command_of(swept),
            "sonde run --suite quick --memory-percent 50 --set latency.carveout_bytes=8192 "
            "--jobs global.throughput,latency -o again.h5");
  swept.provenance.points[0].config_json = R"({"sms": ["17", "20-23", 4]})";
  EXPECT_EQ(command_of(swept), "sonde run --sms 17,20-23 --jobs global.throughput -o again.h5");
  swept.provenance.points[0].config_json =
      R"({"suite": 1, "memory_percent": "50", "sms": [], "set": "x"})";
  EXPECT_EQ(command_of(swept), "sonde run --set x --jobs global.throughput -o again.h5");
  EXPECT_EQ(command_of(spoiled_fleet()), "sonde run --jobs global.throughput -o again.h5");
}

TEST(SweepReportTest, other_causes_at_other_settings_are_problems_of_their_own) {
  RunResult swept = swept_fleet();
  maker::scale_finding(swept.devices[5], "global.read_bytes_per_s", 1 / 0.8);
  maker::scale_finding(swept.devices[5], "latency.dram_cycles", 1.3);
  const auto [run, analysis] = rendered(std::move(swept));
  const std::vector<Problem> wrong = problems(run, analysis);
  ASSERT_EQ(wrong.size(), 2u);
  EXPECT_THAT(wrong[0].where, EndsWith("memory-percent=50"));
  EXPECT_THAT(wrong[1].where, EndsWith("memory-percent=100"));
}

TEST(SweepReportTest, a_low_clock_is_one_problem_whatever_it_shows_in) {
  RunResult swept = swept_fleet();  // at one setting a bandwidth shows it, too
  maker::scale_finding(swept.devices[5], "global.read_bytes_per_s", 1 / 0.8);
  for (const std::size_t device : {2u, 5u}) {
    swept.devices[device].after.sm_clock_hz *= 0.8;
    swept.devices[device].after.throttle_reasons = 0x40;
  }
  const auto [run, analysis] = rendered(std::move(swept));
  const std::vector<Problem> wrong = problems(run, analysis);
  ASSERT_EQ(wrong.size(), 1u);
  EXPECT_EQ(wrong[0].badge, "FAIL");
  EXPECT_EQ(wrong[0].device, 2u);
}

TEST(SweepReportTest, a_gpu_that_is_bad_at_each_setting_is_a_reason_to_drain_once) {
  const auto [run, analysis] = rendered(swept_fleet());
  EXPECT_EQ(commands_to_paste(run, analysis).at(1),
            "scontrol update nodename=node01 state=drain reason=\"sonde: verdict=fail gpu=" +
                run.devices[2].info.uuid + " class=memory\"");

  RunResult lost = swept_fleet();
  lost.devices[5].status = DeviceOutcome::lost;
  const auto [partly, of_partly] = rendered(std::move(lost));
  const std::string drain = commands_to_paste(partly, of_partly).at(1);
  EXPECT_THAT(drain, HasSubstr("class=memory, verdict=lost gpu="));
}

TEST(SweepReportTest, cases_of_junit_have_names_of_their_own) {
  const auto [run, analysis] = rendered(swept_fleet());
  const std::string text = text_of(write_junit, run, analysis);
  const std::regex name("classname=\"[^\"]*\" name=\"[^\"]*\"");
  std::set<std::string> names;
  std::size_t cases = 0;
  for (std::sregex_iterator at(text.begin(), text.end(), name), end; at != end; ++at, ++cases) {
    names.insert(at->str());
  }
  EXPECT_EQ(cases, 6 * (run.devices[0].jobs.size() + 1));
  EXPECT_EQ(names.size(), cases);
  EXPECT_THAT(text, HasSubstr("name=\"verdict (memory-percent=100)\""));
}

TEST(SweepReportTest, flags_of_json_have_the_setting) {
  const auto [run, analysis] = rendered(swept_fleet());
  const auto json = nlohmann::json::parse(text_of(write_json, run, analysis));
  std::multiset<std::string> settings;
  for (const auto& flag : json.at("flags")) {
    if (flag.at("severity") == "fail") settings.insert(flag.at("setting").get<std::string>());
  }
  EXPECT_THAT(settings, ElementsAre("memory-percent=100", "memory-percent=50"));
}

TEST(SweepReportTest, the_page_tells_the_settings_of_a_device_apart) {
  const auto [run, analysis] = rendered(swept_fleet());
  const std::string page = render_html(run, analysis, {});
  const std::string device =
      run.devices[2].info.uuid.substr(0, 12) + " on " + place_of(run.devices[2]);
  for (const char* setting : {", memory-percent=50", ", memory-percent=100"}) {
    EXPECT_EQ(count_of(page, "data-device=\"" + device + setting + "\""), 1u) << setting;
    EXPECT_THAT(page, HasSubstr("All findings of " + device + setting + "</summary>"));
  }
  EXPECT_THAT(page, HasSubstr("rank GPU setting likely reason\""));
}

TEST(SweepReportTest, notes_and_the_heading_of_a_lone_device_say_the_setting) {
  RunResult swept = swept_fleet();
  maker::scale_finding(swept.devices[3], "global.write_bytes_per_s", 1.04);  // better: a note
  const auto [run, analysis] = rendered(std::move(swept));
  EXPECT_THAT(notes(run, analysis), testing::Contains(HasSubstr("rank 0, memory-percent=100  ")));

  RunResult one = swept_fleet();
  one.devices.resize(1);
  const auto [lone, of_lone] = rendered(std::move(one));
  EXPECT_THAT(render_terminal(lone, of_lone), HasSubstr("(node01 rank 0, memory-percent=50)"));
  EXPECT_THAT(render_terminal(run, analysis), Not(HasSubstr("(node01 rank 0,")));
}

TEST(SweepReportTest, a_comparison_counts_gpus_and_names_settings) {
  const auto [before, of_before] = rendered(swept_fleet());
  RunResult after = before;
  maker::scale_finding(after.devices[4], "global.read_bytes_per_s", 0.8);
  const std::string same = render_comparison(compare_runs(before, after, maker::registry));
  EXPECT_THAT(same, StartsWith("3 GPUs in both runs, 1 changed value\n"));
  EXPECT_THAT(same, HasSubstr("20 % less than before"));
  EXPECT_THAT(same, HasSubstr(before.devices[1].info.uuid + "  memory-percent=100  global.read"));

  after.provenance.points[0].at = {"25"};
  const std::string other = render_comparison(compare_runs(before, after, maker::registry));
  EXPECT_THAT(other, StartsWith("3 GPUs in both runs, "));
  EXPECT_THAT(other,
              HasSubstr("only before: " + before.devices[0].info.uuid + " (memory-percent=50)"));
  EXPECT_THAT(other,
              HasSubstr("only after: " + before.devices[0].info.uuid + " (memory-percent=25)"));
}

/// A GPU whose bandwidth rises with what is swept, and whose L1 answers alike.
RunResult rising_fleet(std::size_t settings) {
  std::vector<std::vector<std::string>> percents;
  for (std::size_t i = 1; i <= settings; ++i) percents.push_back({std::to_string(i)});
  RunResult run = maker::sweep_of(maker::healthy_fleet(1, 7), {memory_percent}, percents);
  for (std::size_t i = settings / 2; i < settings; ++i) {
    maker::scale_finding(run.devices[i], "global.read_bytes_per_s", 2);
  }
  return run;
}

TEST(SweepAnswerTest, what_changed_is_a_table_by_setting_and_what_did_not_is_named) {
  const auto [run, analysis] = rendered(rising_fleet(4));
  const SweepAnswer answer = answer_sweep(run, analysis);
  ASSERT_EQ(answer.models.size(), 1u);
  const SweptModel& model = answer.models[0];
  ASSERT_EQ(model.metrics.size(), 1u);
  EXPECT_NEAR(model.metrics[0].change, 0.5, 1e-9);
  EXPECT_THAT(model.steady, testing::Contains(StartsWith("latency.l1_cycles ")));
  const TextTable table = sweep_table(answer, model, 0, 1);
  EXPECT_THAT(titles_of(table), ElementsAre("memory-percent", "global.read_bytes_per_s TB/s"));
  ASSERT_EQ(table.rows.size(), 4u);
  EXPECT_EQ(table.rows[0][0], "1");
  EXPECT_NE(table.rows[1][1], table.rows[2][1]);
  const std::string text = render_terminal(run, analysis, Colour::off, 0, Detail::summary);
  EXPECT_LT(text.find("OVER THE SWEEP"), text.find("DEVICES"));
  EXPECT_EQ(count_of(text, "placement"), 0u) << "each setting in the table, the device not again";
}

TEST(SweepAnswerTest, of_a_long_sweep_rows_that_repeat_the_one_before_are_left_out) {
  const auto [run, analysis] = rendered(rising_fleet(100));
  const SweepAnswer answer = answer_sweep(run, analysis);
  const TextTable table = sweep_table(answer, answer.models.at(0), 0, 1);
  ASSERT_EQ(table.rows.size(), 2u);
  EXPECT_EQ(table.rows[1][0], "51");
}

TEST(SweepAnswerTest, lines_of_a_long_sweep_stand_in_its_order) {
  SweepAnswer answer{
      .axes = {"chase.stride_bytes", "chase.footprint_bytes"}, .settings = {}, .models = {{}}};
  SweptMetric latency{.metric = find_metric("chase.latency_cycles"), .values = {}};
  for (const char* stride : {"32 B", "128 B"}) {
    for (int footprint = 0; footprint < 30; ++footprint) {
      answer.settings.push_back({stride, std::to_string(footprint)});
      latency.values.push_back({.gpus = 1, .median = footprint < 10 ? 30.0 : 250});
    }
  }
  answer.models[0].metrics = {latency};

  const TextTable table = sweep_table(answer, answer.models[0], 0, 1);

  ASSERT_EQ(table.rows.size(), 4u);
  EXPECT_THAT(table.rows[1], ElementsAre("32 B", "10", "250"));
  EXPECT_THAT(table.rows[2], ElementsAre("128 B", "0", "30"));
}

TEST(SweepAnswerTest, of_named_jobs_alone_and_without_a_number_there_is_none) {
  RunResult fleet = rising_fleet(4);
  fleet.provenance.config_json = R"({"jobs": ["latency"]})";
  for (JobResult& job : fleet.devices[3].jobs) {
    for (Finding& finding : job.findings) {
      if (finding.metric == "latency.dram_cycles") finding = not_present(finding.metric, "");
    }
  }
  maker::scale_finding(fleet.devices[1], "latency.dram_cycles", 2);
  const auto [run, analysis] = rendered(std::move(fleet));
  const SweepAnswer answer = answer_sweep(run, analysis);
  ASSERT_EQ(answer.models.at(0).metrics.size(), 1u);
  EXPECT_EQ(answer.models[0].metrics[0].metric->name, "latency.dram_cycles");
  EXPECT_EQ(sweep_table(answer, answer.models[0], 0, 1).rows.at(3).at(1), "-");
}

TEST(SweepReportTest, a_gpu_that_has_nowhere_what_is_asked_for_is_incomplete) {
  const auto refuse_from = [](std::size_t first) {
    RunResult fleet = swept_fleet();
    for (std::size_t i = first; i < 6; i += 3) {
      for (JobResult& job : fleet.devices[i].jobs) {
        job.status = Status::not_present;
        job.reason = "this GPU has no such carve-out";
      }
    }
    return fleet;
  };
  const auto [nowhere, of_nowhere] = rendered(refuse_from(0));
  EXPECT_EQ(of_nowhere.counts.incomplete, 1u);
  EXPECT_EQ(problems(nowhere, of_nowhere).at(1).actions.at(0), "choose values that this GPU has");
  const auto [somewhere, of_somewhere] = rendered(refuse_from(3));
  EXPECT_EQ(of_somewhere.counts.incomplete, 0u);
}

}  // namespace
}  // namespace sonde
