#include "config/sweep.hpp"

#include "base/error.hpp"
#include "config/config_file.hpp"
#include "support/temporary_folder.hpp"

#include <gmock/gmock.h>

#include <fstream>

namespace sonde {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::ThrowsMessage;

std::vector<std::string> values_of(const std::string& axis) { return parse_axis(axis).values; }

std::vector<std::vector<std::string>> settings_of(const RunOptions& options) {
  std::vector<std::vector<std::string>> settings;
  for (const SweepPoint& point : lay_out_sweep(options).points) settings.push_back(point.at);
  return settings;
}

TEST(SweepTest, lists_and_ranges_give_their_values) {
  EXPECT_THAT(values_of("seed=3,1,2"), ElementsAre("3", "1", "2"));
  EXPECT_THAT(values_of("seed=1:3"), ElementsAre("1", "2", "3"));
  EXPECT_THAT(values_of("x=8:40:16,64KiB"), ElementsAre("8", "24", "40", "65536"));
  EXPECT_THAT(values_of("x=1KiB:5KiB:*2"), ElementsAre("1024", "2048", "4096"));
  EXPECT_THAT(values_of("x=0.1:0.3:0.1"), ElementsAre("0.1", "0.2", "0.3"));
  EXPECT_THAT(values_of("seed=9007199254740993,1234567890123456789"),
              ElementsAre("9007199254740993", "1234567890123456789"))
      << "no double holds these";
  EXPECT_THAT(values_of("sms=17;20,21"), ElementsAre("17", "20,21"));
  EXPECT_THAT(values_of("suite=quick,full"), ElementsAre("quick", "full"));
}

TEST(SweepTest, each_sm_and_each_pair_is_named_once_their_number_is_known) {
  EXPECT_EQ(name_sms_of("sms=each", 3), "sms=0;1;2;");
  EXPECT_EQ(name_sms_of("sms=pairs", 5), "sms=0-1;2-3;4;");
  EXPECT_EQ(name_sms_of("seed=1,2", 3), "seed=1,2");
}

TEST(SweepTest, what_has_no_end_or_no_values_is_refused) {
  for (const char* axis :
       {"seed", "seed=", "=1", "x=3:1", "x=1:9:0", "x=1:9:*1", "x=0:9:*2", "x=1,1", "x=;"}) {
    EXPECT_THROW(parse_axis(axis), ConfigError) << axis;
  }
}

TEST(SweepTest, a_product_has_all_combinations_and_a_zip_one_of_each) {
  const RunOptions plain{.backend = "sim:h200", .suite = "quick"};
  ASSERT_EQ(lay_out_sweep(plain).points.size(), 1);
  EXPECT_EQ(hash_options(lay_out_sweep(plain).points[0].options, 0), hash_options(plain));

  RunOptions options{.sweep = {"memory-percent=50,100", "latency.carveout_bytes=0,64KiB"}};
  EXPECT_THAT(settings_of(options),
              ElementsAre(ElementsAre("50", "0"), ElementsAre("50", "65536"),
                          ElementsAre("100", "0"), ElementsAre("100", "65536")));
  const auto points = lay_out_sweep(options).points;
  EXPECT_EQ(points[1].options.memory_percent, 50);
  EXPECT_THAT(points[1].options.set, ElementsAre("latency.carveout_bytes=65536"));

  options.sweep_mode = "zip";
  EXPECT_THAT(settings_of(options),
              ElementsAre(ElementsAre("50", "0"), ElementsAre("100", "65536")));
  options.sweep.emplace_back("seed=1,2,3");
  EXPECT_THAT([&] { lay_out_sweep(options); }, ThrowsMessage<ConfigError>(HasSubstr("seed has 3")));
}

TEST(SweepTest, the_suite_full_with_a_time_budget_is_repeated_until_it_is_over) {
  const RunOptions night{.suite = "full", .sweep = {"memory-percent=50,100"}, .time_budget = "8h"};
  EXPECT_TRUE(fills_time_budget(night));
  const SweepLayout layout = lay_out_sweep(night);
  EXPECT_EQ(layout.points.size(), 2 * most_filling_repeats);
  EXPECT_EQ(layout.points.back().repeat_index, most_filling_repeats - 1);
  EXPECT_EQ(
      hash_options(layout.points.front().options),
      hash_options(
          lay_out_sweep({.suite = "full", .sweep = {"memory-percent=50"}}).points.front().options));
  EXPECT_EQ(lay_out_sweep({.time_budget = "8h"}).points.size(), 1) << "standard is not";
  EXPECT_EQ(lay_out_sweep({.suite = "full"}).points.size(), 1);
  EXPECT_EQ(lay_out_sweep({.suite = "full", .repeat = 3, .time_budget = "8h"}).points.size(), 3);
}

TEST(SweepTest, each_repeat_is_a_whole_sweep_of_other_hashes) {
  const SweepLayout layout = lay_out_sweep({.repeat = 2, .sweep = {"seed=1,2"}});

  ASSERT_EQ(layout.points.size(), 4);
  std::vector<std::uint64_t> repeats;
  std::vector<std::string> hashes;
  for (const SweepPoint& point : layout.points) {
    repeats.push_back(point.repeat_index);
    hashes.push_back(hash_options(point.options, point.repeat_index));
  }
  EXPECT_THAT(repeats, ElementsAre(0, 0, 1, 1));
  std::ranges::sort(hashes);
  EXPECT_EQ(std::ranges::unique(hashes).begin(), hashes.end());
}

TEST(SweepTest, values_that_an_option_cannot_have_are_refused) {
  for (const char* axis : {"seed=many", "memory-percent=0,50", "backend=sim:h200,sim:gtx980",
                           "job-timeout-s=1,2", "output=a,b", "repeat=1,2", "seed=1:999999"}) {
    EXPECT_THROW(lay_out_sweep({.sweep = {axis}}), ConfigError) << axis;
  }
  EXPECT_THROW(lay_out_sweep({.sweep = {"seed=1,2", "seed=3"}}), ConfigError);
}

TEST(SweepTest, the_seed_and_the_swept_values_are_no_part_of_what_must_be_equal) {
  const std::vector<SweepAxis> axes{parse_axis("memory-percent=50,100")};
  const RunOptions options{.suite = "quick"};
  RunOptions other = options;
  other.seed = 7;
  other.memory_percent = 50;
  EXPECT_EQ(hash_common_options(options, axes), hash_common_options(other, axes));
  EXPECT_NE(hash_common_options(options, {}), hash_common_options(other, {}));
  EXPECT_NE(hash_common_options(options, {}), hash_common_options(options, axes));
}

TEST(SweepTest, time_budgets_are_times) {
  EXPECT_EQ(time_budget_s({}), std::nullopt);
  EXPECT_EQ(time_budget_s({.time_budget = "90min"}), 5400);
  EXPECT_EQ(time_budget_s({.time_budget = "1.5h"}), 5400);
  for (const char* text : {"6", "h", "-1h", "0s", "6 hours", "400d"}) {
    EXPECT_THROW(time_budget_s({.time_budget = text}), ConfigError) << text;
  }
}

TEST(ConfigFileTest, says_the_same_as_the_command_line_and_where_it_is_wrong) {
  const test::TemporaryFolder folder;
  const auto read = [&folder](const std::string& text) {
    std::ofstream(folder / "a.toml") << text;
    RunOptions options;
    read_config_file(folder / "a.toml",
                     {.is_chosen = [](std::string_view) { return false; }, .check = check_options},
                     options);
    return options;
  };
  const RunOptions options = read(R"(
repeat = 3
sweep-mode = "zip"
sweep = ["seed=1,2", "sms=17;20,21"]
set = ["cache.l1.carveout_bytes=64KiB"]
)");

  EXPECT_EQ(options.repeat, 3);
  EXPECT_THAT(options.sweep, ElementsAre("seed=1,2", "sms=17;20,21"));
  EXPECT_EQ(to_toml(read(to_toml(options))), to_toml(options));
  EXPECT_THAT(
      [&] { read("seed = 1\nsweep-mode = \"both\"\n"); },
      ThrowsMessage<ConfigError>(HasSubstr("a.toml:2:14: --sweep-mode must be product or")));
  EXPECT_THAT([&] { read("[sweep]\nseed = [1, 2]\n"); },
              ThrowsMessage<ConfigError>(HasSubstr("'sweep' must be a list of texts")));
}

}  // namespace
}  // namespace sonde
