#include "commands/commands.hpp"

#include "base/error.hpp"
#include "support/temporary_folder.hpp"
#include "support/thrown.hpp"

#include <gmock/gmock.h>

#include <filesystem>
#include <fstream>

namespace sonde {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::StartsWith;

Command parse(std::vector<const char*> words) {
  words.insert(words.begin(), "sonde");
  return parse_command_line(static_cast<int>(words.size()), words.data()).value();
}

RunOptions parse_run(std::vector<const char*> words) {
  words.insert(words.begin(), "run");
  return std::get<RunOptions>(parse(std::move(words)));
}

template <class Options>
Options parse_file_command(std::vector<const char*> words) {
  return std::get<Options>(std::get<FileCommand>(parse(std::move(words))));
}

std::string refusal(std::vector<const char*> words) {
  return test::thrown<ConfigError>([&] { parse(std::move(words)); });
}

std::string write_toml(const std::string& text) {
  static const test::TemporaryFolder folder;
  std::ofstream(folder / "options.toml") << text;
  return folder / "options.toml";
}

TEST(CommandLineTest, reads_the_options_of_a_run_and_of_the_doctor) {
  const RunOptions options =
      parse_run({"--backend", "sim:gtx980,gtx780", "--suite", "quick", "--jobs", "cache.l1,tlb",
                 "--seed", "7", "-o", "night.h5", "--resume"});

  EXPECT_EQ(options.backend, "sim:gtx980,gtx780");
  EXPECT_EQ(options.suite, "quick");
  EXPECT_THAT(options.jobs, ElementsAre("cache.l1", "tlb"));
  EXPECT_EQ(options.seed, 7u);
  EXPECT_EQ(options.output, "night.h5");
  EXPECT_TRUE(options.resume);
  const RunOptions asked =
      parse_file_command<DoctorOptions>({"doctor", "--backend", "sim:h200", "--suite", "quick",
                                         "-o", "a/n.h5", "--allow-shared-gpu"})
          .run;
  EXPECT_EQ(asked.backend, "sim:h200");
  EXPECT_EQ(asked.suite, "quick");
  EXPECT_EQ(asked.output, "a/n.h5");
  EXPECT_TRUE(asked.allow_shared_gpu);
}

TEST(CommandLineTest, every_command_has_its_own_options_and_defaults) {
  EXPECT_EQ(parse_run({}).output, "sonde-run.h5");
  EXPECT_EQ(parse_file_command<AnalyzeOptions>({"analyze", "a.h5", "--baseline", "b.h5"}).baseline,
            "b.h5");
  EXPECT_THAT(
      parse_file_command<AnalyzeOptions>({"analyze", "--tolerance", "a=1", "a.h5", "--tolerance=b"})
          .tolerances,
      ElementsAre("a=1", "b"));
  EXPECT_EQ(parse_file_command<ReportOptions>({"report", "a.h5"}).output, "report.html");
  EXPECT_EQ(parse_file_command<ExportOptions>({"export", "a.h5"}).format, "json");
  EXPECT_THAT(parse_file_command<CompareOptions>({"compare", "a.h5", "b.h5"}).runs,
              ElementsAre("a.h5", "b.h5"));
  EXPECT_EQ(parse_file_command<CompareOptions>({"compare", "a.h5", "b.h5"}).format, "table");
  EXPECT_THAT(parse_file_command<MergeOptions>({"merge", "a.h5", "b.h5", "-o", "c.h5"}).sources,
              ElementsAre("a.h5", "b.h5"));
  EXPECT_EQ(parse_file_command<StatusOptions>({"status", "a.h5"}).run, "a.h5");
}

TEST(CommandLineTest, a_choice_is_one_of_its_table) {
  const auto list = parse_file_command<ListOptions>({"list", "metrics", "--format", "markdown"});

  EXPECT_EQ(list.topic, ListTopic::metrics);
  EXPECT_EQ(list.format, ListFormat::markdown);
  EXPECT_EQ(parse_file_command<ListOptions>({"list", "jobs"}).format, ListFormat::plain);
  EXPECT_THAT(refusal({"list", "metrics", "--format", "json"}), HasSubstr("markdown"));
  EXPECT_THAT(refusal({"list", "mettrics"}), HasSubstr("metrics"));
}

TEST(CommandLineTest, formats_of_an_export_are_those_there_are_and_verdicts_alone_are_json) {
  EXPECT_THAT(refusal({"export", "a.h5", "--format", "yaml"}),
              AllOf(HasSubstr("yaml"), HasSubstr("prometheus")));
  EXPECT_THAT(refusal({"compare", "a.h5", "b.h5", "--format", "csv"}),
              AllOf(HasSubstr("csv"), HasSubstr("json")));
  EXPECT_TRUE(
      parse_file_command<ExportOptions>({"export", "a.h5", "--verdicts-only"}).verdicts_only);
  EXPECT_THROW(execute(ExportOptions{.run = "a.h5", .format = "csv", .verdicts_only = true}),
               ConfigError);
}

TEST(CommandLineTest, help_is_a_command_and_the_version_has_a_letter) {
  const std::vector<std::vector<const char*>> asked{
      {"sonde", "help"}, {"sonde", "help", "run"}, {"sonde", "-V"}};
  std::vector<std::string> said;
  for (const auto& words : asked) {
    testing::internal::CaptureStdout();
    EXPECT_FALSE(parse_command_line(static_cast<int>(words.size()), words.data()).has_value());
    said.push_back(testing::internal::GetCapturedStdout());
  }
  EXPECT_THAT(said[0], HasSubstr("compare the devices of a run file again"));
  EXPECT_THAT(said[1], HasSubstr("--memory-percent"));
  EXPECT_THAT(said[2], StartsWith("sonde "));
}

TEST(CommandLineTest, refuses_what_it_does_not_know) {
  EXPECT_THAT(refusal({"run", "--bakcend", "cuda"}), HasSubstr("--bakcend"));
  EXPECT_THAT(refusal({"run", "--suite", "huge"}), HasSubstr("huge"));
  EXPECT_THAT(refusal({"frobnicate"}), HasSubstr("frobnicate"));
  EXPECT_THAT(refusal({"compare", "one.h5"}), HasSubstr("2"));
  EXPECT_NE(refusal({}), "nothing is wrong");
}

TEST(CommandLineTest, values_in_the_file_are_checked_and_the_command_line_wins) {
  const std::string path = write_toml("suite = \"huge\"\njob-timeout-s = 5\n");

  EXPECT_THAT(refusal({"run", "--config", path.c_str()}), HasSubstr("huge"));
  EXPECT_EQ(parse_run({"--suite", "quick", "--config", path.c_str()}).suite, "quick");
  EXPECT_EQ(parse_run({"--suite", "quick", "--config", path.c_str()}).job_timeout_s, 5);
  EXPECT_THAT(refusal({"run", "--config", "/nowhere/at.toml"}), HasSubstr("at.toml"));
}

TEST(CommandLineTest, a_printed_config_reads_back_the_same) {
  for (const char* output :
       {"a b.h5", "a\"b\\c'.h5", "line\nbreak\t\x1b\x7f.h5", "gr\u00f6\u00dfe \u20ac.h5", "'''"}) {
    const RunOptions options =
        parse_run({"--backend", "sim:h200,h200+slow_sm=17:3", "--jobs", "tlb,shared", "--seed",
                   "9223372036854775807", "--job-timeout-s", "12.5", "-o", output, "--force"});
    const std::string path = write_toml(to_toml(options));

    const RunOptions again = parse_run({"--config", path.c_str()});

    EXPECT_EQ(to_json(again), to_json(options)) << to_toml(options);
  }
}

TEST(CommandLineTest, numbers_have_bounds) {
  for (const char* wait_s : {"-3", "0", "nan", "inf", "1e300"}) {
    EXPECT_THAT(refusal({"run", "--progress-interval-s", wait_s}), HasSubstr("positive")) << wait_s;
  }
  for (const char* seed : {"-1", "", "1.5", "0x10", "18446744073709551615"}) {
    EXPECT_THAT(refusal({"run", "--seed", seed}), HasSubstr("--seed")) << seed;
  }
}

/// What is said of a file, without the file's own name.
std::string refusal_of_file(const std::string& text) {
  const std::string path = write_toml(text);
  std::string said = refusal({"run", "--config", path.c_str()});
  return said.starts_with(path) ? said.substr(path.size()) : said;
}

TEST(CommandLineTest, values_in_the_file_have_the_type_of_their_option) {
  const auto refused = [](const char* text, const char* place, const char* what) {
    EXPECT_THAT(refusal_of_file(text), AllOf(StartsWith(place), HasSubstr(what))) << text;
  };
  refused("suite = \"quick\"\nseed = -1\n", ":2:8: ", "whole number of 0 or more");
  refused("seed = 1.5", ":1:8: ", "whole number");
  refused("seed = \"7\"", ":1:8: ", "whole number");
  refused("job-timeout-s = true", ":1:17: ", "a number");
  refused("job-timeout-s = nan", ":1:17: ", "positive");
  refused("progress-interval-s = 1e300", ":1:23: ", "positive");
  refused("resume = \"yes\"", ":1:10: ", "true or false");
  refused("resume = []", ":1:10: ", "true or false");
  refused("backend = 5", ":1:11: ", "text in quotes");
  refused("jobs = \"clock\"", ":1:8: ", "list of texts");
  refused("jobs = [1, 2]", ":1:8: ", "list of texts");
  refused("suite = \"huge\"", ":1:9: ", "huge");
  EXPECT_EQ(refusal_of_file("job-timeout-s = 5\nseed = 7\njobs = [\"clock\"]"), "nothing is wrong");
}

TEST(CommandLineTest, what_is_no_toml_is_refused_with_its_place) {
  for (const char* text : {"seed =", "seed = \n", "suite = \"quick", "= 1", "seed = 1\nseed = 2",
                           "suite = \"gr\xf6\xdf"
                           "e\"",
                           "[run", "suite = quick"}) {
    EXPECT_THAT(refusal_of_file(text), AllOf(StartsWith(":"), HasSubstr("TOML"))) << text;
  }
  EXPECT_NE(refusal_of_file("jobs = " + std::string(100'000, '[')), "nothing is wrong");
}

TEST(CommandLineTest, an_unknown_key_is_told_with_its_place) {
  EXPECT_THAT(refusal_of_file("siute = 1"), AllOf(StartsWith(":1:1: "), HasSubstr("'siute'")));
  EXPECT_THAT(refusal_of_file("help = true"), HasSubstr("unknown key 'help'"));
  EXPECT_THAT(refusal_of_file("[suite]\nlevel = 1"), HasSubstr("text in quotes"));
}

}  // namespace
}  // namespace sonde
