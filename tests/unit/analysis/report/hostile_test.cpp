// Reports of a run whose texts and numbers come from somebody who means harm.
#include "analysis/report/report.hpp"

#include "unit/analysis/report/reported_fleets.hpp"

#include <gmock/gmock.h>
#include <nlohmann/json.hpp>

#include <limits>
#include <vector>

namespace sonde {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

/// Two devices that are lost, on nodes and with names of that text.
Rendered named(const std::string& text) {
  RunResult run = maker::healthy_fleet(2, 7);
  for (DeviceResult& device : run.devices) {
    device.node = text;
    device.info.name = text;
    device.status = DeviceOutcome::lost;
    device.reason = text;
  }
  maker::finding_of(run.devices[0], "cache.l1.replacement").value = text;
  run.provenance.started_utc = text;
  return rendered(std::move(run));
}

TEST(HostileReportTest, each_report_makes_a_name_harmless_for_its_medium) {
  const auto expect = [](const char* name, const auto& render, const char* shown,
                         const std::vector<const char*>& absent) {
    const auto [run, analysis] = named(name);
    const std::string text = render(run, analysis);
    EXPECT_THAT(text, HasSubstr(shown));
    for (const char* one : absent) EXPECT_THAT(text, Not(HasSubstr(one)));
  };
  expect("n1\x1b[2J\nALL WELL: 2 GPUs passed\xff",
         [](const auto&... fleet) { return render_terminal(fleet...); },
         "n1\\x1b[2J\\x0aALL WELL: 2 GPUs passed\xef\xbf\xbd", {"\x1b", "\nALL WELL"});
  expect("=cmd|' /C calc'!A0", [](const auto&... fleet) { return text_of(write_csv, fleet...); },
         ",'=cmd", {",=cmd"});
  expect("\x01]]>\xff", [](const auto&... fleet) { return text_of(write_junit, fleet...); },
         "\\x01]]&gt;\xef\xbf\xbd", {"\x01"});
  expect("</script><!--<script>", [](const auto&... fleet) { return render_html(fleet...); },
         "&lt;!--", {"<!--<script>", "</script><!--"});
}

TEST(HostileReportTest, json_is_utf8_without_controls) {
  const auto [run, analysis] = named("\xc2\x9b\x1b\xff");

  const std::string text = text_of(write_json, run, analysis);

  EXPECT_EQ(nlohmann::json::parse(text).at("devices").at(0).at("node"), "\xc2\x9b\x1b\xef\xbf\xbd");
  EXPECT_THAT(text, HasSubstr("\\u009b\\u001b"));
}

TEST(HostileReportTest, commands_to_paste_hold_one_word_for_a_name) {
  const auto [run, analysis] = named("n1;reboot $(x)");
  const auto commands = commands_to_paste(run, analysis);
  ASSERT_EQ(commands.size(), 2u);
  EXPECT_EQ(commands[0], "'--exclude=n1;reboot $(x)'");
  EXPECT_THAT(commands[1], HasSubstr("nodename='n1;reboot $(x)' "));
}

TEST(HostileReportTest, a_staircase_without_end_comes_to_an_end) {
  RunResult endless = maker::healthy_fleet(1, 7);
  const double infinity = std::numeric_limits<double>::infinity();
  endless.devices[0].jobs[0].findings.push_back(
      found("latency.staircase_bytes", std::vector<double>{1024, infinity}, 1, 2));
  endless.devices[0].jobs[0].findings.push_back(
      found("latency.staircase_cycles", std::vector<double>{30, 40}, 1, 2));
  const auto [run, analysis] = rendered(std::move(endless));

  EXPECT_THAT(render_html(run, analysis), HasSubstr("</html>"));
}

}  // namespace
}  // namespace sonde
