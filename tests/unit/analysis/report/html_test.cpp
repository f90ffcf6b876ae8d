#include "analysis/fleet/verdict/reduce.hpp"
#include "analysis/report/charts/charts.hpp"
#include "analysis/report/page/sections.hpp"
#include "analysis/report/report.hpp"

#include "unit/analysis/fleet/fleet_maker.hpp"

#include <gmock/gmock.h>
#include <nlohmann/json.hpp>

#include <regex>
#include <set>

namespace sonde {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

struct Page {
  RunResult run;
  std::string html;
};

Page page_of(RunResult run) {
  Page page{std::move(run), ""};
  page.html = render_html(page.run, reduce_fleet(page.run, maker::options()));
  return page;
}

/// The page without Vega's own text, which has names of XML namespaces.
std::string without_vega(std::string html) {
  const std::size_t at = vega_bundle().empty() ? std::string::npos : html.find(vega_bundle());
  return at == std::string::npos ? html : html.erase(at, vega_bundle().size());
}

/// The data of the charts.
nlohmann::json charts_of(const std::string& html) {
  const std::string begin = "id=\"charts\">";
  const std::size_t from = html.find(begin) + begin.size();
  return nlohmann::json::parse(html.substr(from, html.find("</script>", from) - from));
}

TEST(HtmlTest, page_loads_nothing) {
  const Page page = page_of(maker::healthy_fleet(4, 7));
  const std::string own = without_vega(page.html);

  EXPECT_THAT(own, Not(HasSubstr("http://")));
  EXPECT_THAT(own, Not(HasSubstr("https://")));
  EXPECT_FALSE(std::regex_search(own, std::regex("<(link|img|iframe|script[^>]*src)")));
  EXPECT_THAT(own, HasSubstr("default-src 'none'"));
}

TEST(HtmlTest, the_roofline_has_a_ceiling_for_each_memory_and_unit) {
  RunResult run = maker::healthy_fleet(1, 7);
  EXPECT_TRUE(roofline_chart(run.devices[0], "it").empty());
  DeviceResult& device = run.devices[0];
  device.info.sm_count = 100;
  for (JobResult& job : device.jobs) {
    std::erase_if(job.findings, [](const Finding& finding) {
      return finding.metric == "clock.sm_hz" || finding.metric.starts_with("global.read") ||
             finding.metric.starts_with("shared.") || finding.metric.starts_with("placement.");
    });
  }
  device.jobs.push_back(maker::job(
      "arithmetic", {found("clock.sm_hz", 1e9, 1, 1), found("global.read_bytes_per_s", 2e12, 1, 1),
                     found("shared.bytes_per_cycle_per_sm", 128.0, 1, 1),
                     found("arithmetic.float_fma.throughput_per_cycle_per_sm", 128.0, 1, 1)}));

  const Json chart = roofline_chart(device, "it");

  const auto& points = chart.at("points");
  ASSERT_EQ(points.size(), 6u);  // memory, shared memory, single precision
  EXPECT_EQ(points.at(0).at("line"), "memory: 2.00 TB/s");
  EXPECT_EQ(points.at(0).at("y"), 2e12 / 64);
  EXPECT_EQ(points.at(1).at("y"), 2 * 128 * 1e11) << "it ends at the highest ceiling";
  EXPECT_EQ(points.at(1).at("x"), 2 * 128 * 1e11 / 2e12);
  EXPECT_EQ(points.at(4).at("line"), "FP32: 25.6 TFLOP/s in a burst");
  EXPECT_EQ(points.at(4).at("x"), 2.0) << "where the fastest memory reaches it";
}

TEST(HtmlTest, charts_of_one_device_have_a_choice_of_those_that_have_any) {
  if (vega_bundle().empty()) GTEST_SKIP() << "built without Vega";
  const auto with_rooflines = [](std::size_t devices) {
    RunResult run = maker::healthy_fleet(12, 7);
    for (std::size_t i = 0; i < devices; ++i) {
      run.devices[11 - i].jobs.push_back(maker::job(
          "units",
          {found("clock.sm_hz", 1e9, 1, 2), found("shared.bytes_per_cycle_per_sm", 128.0, 1, 2),
           found("device.max_sm_clock_hz", 1e9, 1, 2),
           found("arithmetic.float_fma.throughput_per_cycle_per_sm", 128.0, 1, 2)}));
    }
    return page_of(std::move(run));
  };
  const Page none = with_rooflines(0);
  const Page all = with_rooflines(12);

  EXPECT_FALSE(charts_of(none.html).contains("devices"));
  const auto devices = charts_of(all.html).at("devices");
  ASSERT_EQ(devices.size(), most_chosen_devices);
  EXPECT_EQ(devices.at(1).at("label"), chart_label(all.run, all.run.devices[1]));
  EXPECT_TRUE(devices.at(1).at("charts").contains("roofline"));
}

TEST(HtmlTest, map_has_every_sm_and_marks_the_slow_one) {
  if (vega_bundle().empty()) GTEST_SKIP() << "built without Vega";
  RunResult run = maker::healthy_fleet(4, 7);
  maker::slow_sm(run.devices[3], "placement.l1_latency_cycles", 17, 3);

  const auto charts = charts_of(page_of(std::move(run)).html);

  const auto& first = charts.at("map").at(0);  // the device with a named SM leads
  EXPECT_THAT(std::string(first.at("label")), HasSubstr("rank 3 (fail)"));
  const auto& map = first.at("maps").at(0);
  const auto& cells = first.at("layouts").at(std::to_string(maker::sm_count));
  EXPECT_EQ(cells.size(), maker::sm_count);
  EXPECT_EQ(map.at("values").size(), maker::sm_count);
  EXPECT_EQ(map.at("out"), nlohmann::json::array({17}));
  std::set<int> sms;
  for (const auto& cell : cells) sms.insert(cell.at("sm").get<int>());
  EXPECT_EQ(sms.size(), maker::sm_count);
}

TEST(HtmlTest, of_a_large_fleet_only_jobs_with_a_problem_are_shown) {
  constexpr std::size_t gpus = 300;
  RunResult run = maker::healthy_fleet(gpus, 7);
  maker::scale_finding(run.devices[2], "global.read_bytes_per_s", 0.8);

  const Page page = page_of(std::move(run));

  EXPECT_THAT(page.html, HasSubstr("Jobs in which something is wrong with"));
  EXPECT_THAT(page.html, HasSubstr("<tr id=\"f2-global.read_bytes_per_s\">"));
  EXPECT_THAT(page.html, Not(HasSubstr("<tr id=\"f2-placement.l1_latency_cycles\">")));
  EXPECT_THAT(page.html, Not(HasSubstr("<tr id=\"f3-")));
}

TEST(HtmlTest, probes_behind_findings_are_named_by_their_rows_in_the_file) {
  RunResult run = maker::healthy_fleet(2, 7);
  for (DeviceResult& device : run.devices) {
    for (const char* label : {"size 4096 step 128", "size 8192 step 128", "overhead"}) {
      device.jobs[0].probes.emplace_back().label = label;
    }
  }
  run.devices[1].jobs[0].first_probe = 3;

  const Page page = page_of(std::move(run));

  EXPECT_THAT(page.html, HasSubstr("rows 0 to 2 of <code>/probes"));
  EXPECT_THAT(page.html, HasSubstr("rows 3 to 5 of <code>/probes"));
}

TEST(HtmlTest, lists_show_their_range_and_fold_their_values) {
  const std::string html = page_of(maker::healthy_fleet(1, 7)).html;
  EXPECT_THAT(html, HasSubstr("19 values, 4 KiB to 1 GiB"));
  EXPECT_THAT(html, HasSubstr("4 KiB, 8 KiB, 16 KiB"));
  EXPECT_THAT(html, HasSubstr("</summary>36, 36, 36")) << "a unit that all have is said once";
}

TEST(HtmlTest, marks_of_the_staircase_are_those_of_most_devices) {
  if (vega_bundle().empty()) GTEST_SKIP() << "built without Vega";
  RunResult run = maker::healthy_fleet(5, 7);
  maker::scale_finding(run.devices[0], "cache.l1.size_bytes", 0.5);
  for (DeviceResult& device : run.devices) {
    device.jobs[0].findings.push_back(found("cache.l2.segment_bytes", 31457280.0, 1, 1));
  }
  const auto charts = charts_of(page_of(std::move(run)).html);
  EXPECT_EQ(charts.at("staircase").at("points").size(), 5 * 19u);
  const auto& marks = charts.at("staircase").at("marks");
  EXPECT_EQ(marks.at(0).at("label"), "L1 192 KiB");
  EXPECT_EQ(marks.at(1).at("label"), "near L2 30 MiB");
}

TEST(HtmlTest, without_chart_data_there_are_still_tables) {
  RunResult run = maker::healthy_fleet(2, 7);
  for (DeviceResult& device : run.devices) device.jobs.resize(1);

  const Page page = page_of(std::move(run));

  EXPECT_THAT(page.html, HasSubstr("device.sm_count"));
  EXPECT_THAT(page.html, Not(HasSubstr("id=\"charts\"")));
}

}  // namespace
}  // namespace sonde
