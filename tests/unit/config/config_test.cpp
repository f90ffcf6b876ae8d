#include "config/config.hpp"

#include "base/error.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

#include <unistd.h>

namespace sonde {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

Config parse(std::vector<const char*> words) {
  words.insert(words.begin(), "sonde");
  return parse_command_line(static_cast<int>(words.size()), words.data()).value();
}

std::string refusal(std::vector<const char*> words) {
  try {
    parse(std::move(words));
  } catch (const ConfigError& error) {
    return error.what();
  }
  return "accepted";
}

std::string write_toml(const std::string& text) {
  const auto path = std::filesystem::temp_directory_path() /
                    ("sonde-config-test-" + std::to_string(::getpid()) + ".toml");
  std::ofstream(path) << text;
  return path.string();
}

TEST(ConfigTest, reads_the_options_of_a_run) {
  const Config config =
      parse({"run", "--backend", "sim:gtx980,gtx780", "--suite", "quick", "--jobs", "cache.l1,tlb",
             "--seed", "7", "-o", "night.h5", "--resume"});

  EXPECT_EQ(config.command, Command::run);
  EXPECT_EQ(config.backend, "sim:gtx980,gtx780");
  EXPECT_EQ(config.suite, "quick");
  EXPECT_THAT(config.jobs, ElementsAre("cache.l1", "tlb"));
  EXPECT_EQ(config.seed, 7u);
  EXPECT_EQ(config.output, "night.h5");
  EXPECT_TRUE(config.resume);
}

TEST(ConfigTest, commands_with_shared_fields_keep_their_own_defaults) {
  EXPECT_EQ(parse({"report", "run.h5"}).output, "report.html");
  EXPECT_EQ(parse({"export", "run.h5"}).format, "json");
  EXPECT_EQ(parse({"list", "metrics"}).format, "table");
  EXPECT_EQ(parse({"run"}).output, "sonde-run.h5");
}

TEST(ConfigTest, refuses_what_it_does_not_know) {
  EXPECT_THAT(refusal({"run", "--bakcend", "cuda"}), HasSubstr("--bakcend"));
  EXPECT_THAT(refusal({"run", "--suite", "huge"}), HasSubstr("huge"));
  EXPECT_THAT(refusal({"run", "--job-timeout-s", "-3"}), HasSubstr("positive"));
  EXPECT_THAT(refusal({"run", "--job-timeout-s", "0"}), HasSubstr("positive"));
  EXPECT_THAT(refusal({"run", "--job-timeout-s", "nan"}), HasSubstr("positive"));
  EXPECT_THAT(refusal({"frobnicate"}), HasSubstr("frobnicate"));
  EXPECT_THAT(refusal({"compare", "one.h5"}), HasSubstr("2"));
  EXPECT_NE(refusal({}), "accepted");
}

TEST(ConfigTest, an_unknown_key_in_the_file_is_an_error) {
  const std::string path = write_toml("suite = \"quick\"\nsiut = \"full\"\n");

  EXPECT_THAT(refusal({"run", "--config", path.c_str()}), HasSubstr("siut"));
  std::filesystem::remove(path);
}

TEST(ConfigTest, values_in_the_file_are_checked_and_the_command_line_wins) {
  const std::string path = write_toml("suite = \"huge\"\njob-timeout-s = 5\n");

  EXPECT_THAT(refusal({"run", "--config", path.c_str()}), HasSubstr("huge"));
  EXPECT_EQ(parse({"run", "--suite", "quick", "--config", path.c_str()}).suite, "quick");
  EXPECT_EQ(parse({"run", "--suite", "quick", "--config", path.c_str()}).job_timeout_s, 5);
  EXPECT_THAT(refusal({"run", "--config", "/nowhere/at.toml"}), HasSubstr("at.toml"));
  std::filesystem::remove(path);
}

TEST(ConfigTest, a_printed_config_reads_back_the_same) {
  Config config = parse({"run", "--backend", "sim:h200,h200+slow_sm=17:3", "--jobs", "tlb,shared",
                         "--seed", "99", "--job-timeout-s", "12.5", "-o", "a b.h5"});
  const std::string path = write_toml(print_config(config));

  const Config again = parse({"run", "--config", path.c_str()});

  EXPECT_EQ(describe_config(again), describe_config(config));
  std::filesystem::remove(path);
}

TEST(ConfigTest, the_hash_follows_what_decides_the_results) {
  const Config config = parse({"run", "--backend", "sim:h200"});

  EXPECT_EQ(hash_config(config),
            hash_config(parse({"run", "--backend", "sim:h200", "-o", "x.h5"})));
  EXPECT_NE(hash_config(config), hash_config(parse({"run", "--backend", "sim:gtx980"})));
  EXPECT_NE(hash_config(config),
            hash_config(parse({"run", "--backend", "sim:h200", "--seed", "2"})));
}

}  // namespace
}  // namespace sonde
