// Checks as text, as JSON, and across processes.
#include "doctor/checkup.hpp"

#include "base/error.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

namespace sonde {
namespace {

using ::testing::HasSubstr;
using enum CheckVerdict;

const Checks mixed{{ok, "driver", "550.90", ""},
                   {warn, "gpu0.persistence", "off", "nvidia-smi -pm 1"},
                   {skipped, "mps", "no driver to ask", ""}};

TEST(CheckupTest, lines_stand_in_columns_with_what_to_do_and_a_summary) {
  EXPECT_EQ(render_checks(mixed, ""),
            "ok       driver            550.90\n"
            "warn     gpu0.persistence  off  -> nvidia-smi -pm 1\n"
            "skipped  mps               no driver to ask\n"
            "this machine can measure (1 ok, 1 warn, 0 fail, 1 skipped)\n");
}

TEST(CheckupTest, one_failure_is_enough) {
  EXPECT_FALSE(has_failure(mixed));
  Checks checks = mixed;
  checks.push_back({fail, "output", "full", "elsewhere"});
  EXPECT_TRUE(has_failure(checks));
  EXPECT_THAT(render_checks(checks, ""), HasSubstr("\nthis machine cannot measure as it is ("));
}

TEST(CheckupTest, speaker_stands_before_every_line) {
  EXPECT_EQ(render_checks({}, "n1"),
            "n1  this machine can measure (0 ok, 0 warn, 0 fail, 0 skipped)\n");
}

TEST(CheckupTest, text_of_others_stays_on_its_line_and_cannot_control_a_terminal) {
  EXPECT_THAT(render_checks({{ok, "gpus", "a\nfail  b\x1b[2J", ""}}, ""),
              HasSubstr("a\\nfail  b\\x1b[2J\n"));
}

TEST(CheckupTest, json_says_whether_it_can_measure_and_why) {
  const auto read = nlohmann::json::parse(render_checks_json(mixed, "n1"));
  EXPECT_EQ(read.at("host"), "n1");
  EXPECT_EQ(read.at("can_measure"), true);
  EXPECT_EQ(read.at("checks").at(1).at("verdict"), "warn");
  EXPECT_EQ(read.at("checks").at(1).at("advice"), "nvidia-smi -pm 1");
}

TEST(CheckupTest, json_between_processes_comes_back_and_other_text_is_refused) {
  const Checks back = checks_from_json(to_json(mixed));
  ASSERT_EQ(back.size(), 3u);
  EXPECT_EQ(back[1].verdict, warn);
  EXPECT_EQ(back[1].found, "off");
  EXPECT_THROW(checks_from_json("{"), Error);
}

}  // namespace
}  // namespace sonde
