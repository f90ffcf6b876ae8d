// Reports of a run whose texts and numbers come from somebody who means harm.
#include "analysis/fleet/verdict/reduce.hpp"
#include "analysis/report/report.hpp"

#include "unit/analysis/fleet/fleet_maker.hpp"

#include <gmock/gmock.h>
#include <nlohmann/json.hpp>

#include <limits>

namespace sonde {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

/// Two devices that are lost, on nodes and with names of that text.
RunResult named(const std::string& text) {
  RunResult run = maker::healthy_fleet(2, 7);
  for (DeviceResult& device : run.devices) {
    device.node = text;
    device.info.name = text;
    device.status = DeviceOutcome::lost;
    device.reason = text;
  }
  maker::finding_of(run.devices[0], "cache.l1.replacement").value = text;
  run.provenance.started_utc = text;
  return run;
}

template <auto Write>
std::string written(const RunResult& run, const FleetAnalysis& analysis) {
  return text_of(Write, run, analysis);
}

template <class Render>
std::string render(Render renderer, const std::string& text) {
  const RunResult run = named(text);
  return renderer(run, reduce_fleet(run, maker::options()));
}

TEST(HostileReportTest, terminal_shows_what_would_steer_it) {
  const auto plain = [](const RunResult& run, const FleetAnalysis& analysis) {
    return render_terminal(run, analysis, Colour::off);
  };

  const std::string text = render(plain, "n1\x1b[2J\nALL WELL: 2 GPUs passed\xff");

  EXPECT_THAT(text, Not(HasSubstr("\x1b")));
  EXPECT_THAT(text, Not(HasSubstr("\nALL WELL")));
  EXPECT_THAT(text, HasSubstr("n1\\x1b[2J\\x0aALL WELL: 2 GPUs passed\xef\xbf\xbd"));
}

TEST(HostileReportTest, csv_has_no_formulas) {
  const std::string text = render(written<write_csv>, "=cmd|' /C calc'!A0");

  EXPECT_THAT(text, Not(HasSubstr(",=cmd")));
  EXPECT_THAT(text, HasSubstr(",'=cmd"));
}

TEST(HostileReportTest, junit_has_no_characters_that_xml_forbids) {
  const std::string text = render(render_junit, "\x01]]>\xff");

  EXPECT_THAT(text, HasSubstr("\\x01]]&gt;\xef\xbf\xbd"));
  EXPECT_THAT(text, Not(HasSubstr("\x01")));
}

TEST(HostileReportTest, json_is_utf8_without_controls) {
  const std::string text = render(written<write_json>, "\xc2\x9b\x1b\xff");

  EXPECT_EQ(nlohmann::json::parse(text).at("devices").at(0).at("node"), "\xc2\x9b\x1b\xef\xbf\xbd");
  EXPECT_THAT(text, HasSubstr("\\u009b\\u001b"));
}

TEST(HostileReportTest, commands_to_paste_hold_one_word_for_a_name) {
  const RunResult run = named("n1;reboot $(x)");
  const auto commands = commands_to_paste(run, reduce_fleet(run, maker::options()));
  ASSERT_EQ(commands.size(), 2u);
  EXPECT_EQ(commands[0], "'--exclude=n1;reboot $(x)'");
  EXPECT_THAT(commands[1], HasSubstr("nodename='n1;reboot $(x)' "));
}

TEST(HostileReportTest, scripts_of_the_page_hold_no_tags) {
  const std::string text =
      render([](const RunResult& run,
                const FleetAnalysis& analysis) { return render_html(run, analysis); },
             "</script><!--<script>");

  EXPECT_THAT(text, Not(HasSubstr("<!--<script>")));
  EXPECT_THAT(text, Not(HasSubstr("</script><!--")));
}

TEST(HostileReportTest, a_staircase_without_end_comes_to_an_end) {
  RunResult run = maker::healthy_fleet(1, 7);
  const double endless = std::numeric_limits<double>::infinity();
  run.devices[0].jobs[0].findings.push_back(
      found("latency.staircase_bytes", std::vector<double>{1024, endless}, 1, 2));
  run.devices[0].jobs[0].findings.push_back(
      found("latency.staircase_cycles", std::vector<double>{30, 40}, 1, 2));

  EXPECT_THAT(render_html(run, reduce_fleet(run, maker::options())), HasSubstr("</html>"));
}

}  // namespace
}  // namespace sonde
