#include "commands/completion.hpp"

#include "commands/commands.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <sstream>

namespace sonde {
namespace {

using ::testing::AllOf;
using ::testing::Contains;
using ::testing::Each;
using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::Not;
using ::testing::StartsWith;

const std::vector<CommandSyntax> commands{
    {.name = "run",
     .options = {{.names = {"--suite"}, .takes_value = true, .choices = {"quick", "full"}},
                 {.names = {"--jobs"},
                  .takes_value = true,
                  .is_list = true,
                  .choices = {"tlb", "cache.l1", "cache.l2"}},
                 {.names = {"--output", "-o"}, .takes_value = true},
                 {.names = {"--force"}}}},
    {.name = "report", .options = {{.takes_value = true}}},
    {.name = "list", .options = {{.takes_value = true, .choices = {"jobs", "models"}}}}};

TEST(CompletionTest, commands_come_first) {
  EXPECT_THAT(complete_words(commands, {"r"}), ElementsAre("report", "run"));
  EXPECT_THAT(complete_words(commands, {"--"}), ElementsAre("--help", "--version"));
  EXPECT_THAT(complete_words(commands, {"help", "l"}), ElementsAre("list"));
  EXPECT_THAT(complete_words(commands, {}), IsEmpty());
}

TEST(CompletionTest, options_are_those_of_the_command) {
  EXPECT_THAT(complete_words(commands, {"run", "-"}),
              ElementsAre("--force", "--jobs", "--output", "--suite", "-o"));
  EXPECT_THAT(complete_words(commands, {"list", "--"}), IsEmpty());
  EXPECT_THAT(complete_words(commands, {"nothing", "--"}), IsEmpty());
}

TEST(CompletionTest, values_stand_behind_their_option) {
  EXPECT_THAT(complete_words(commands, {"run", "--suite", ""}), ElementsAre("full", "quick"));
  EXPECT_THAT(complete_words(commands, {"run", "--suite=q"}), ElementsAre("--suite=quick"));
  EXPECT_THAT(complete_words(commands, {"run", "--nothing=q"}), IsEmpty());
  EXPECT_THAT(complete_words(commands, {"run", "--force", ""}), IsEmpty());
}

TEST(CompletionTest, a_list_keeps_the_values_it_has) {
  EXPECT_THAT(complete_words(commands, {"run", "--jobs", "tlb,cache.l"}),
              ElementsAre("tlb,cache.l1", "tlb,cache.l2"));
  EXPECT_THAT(complete_words(commands, {"run", "--jobs=tlb,t"}), ElementsAre("--jobs=tlb,tlb"));
  EXPECT_THAT(complete_words(commands, {"run", "--suite", "quick,f"}), IsEmpty());
}

TEST(CompletionTest, files_are_left_to_the_shell) {
  EXPECT_THAT(complete_words(commands, {"run", "-o", ""}), IsEmpty());
  EXPECT_THAT(complete_words(commands, {"run", "-o", "--"}), IsEmpty());
  EXPECT_THAT(complete_words(commands, {"report", ""}), IsEmpty());
  EXPECT_THAT(complete_words(commands, {"list", "m"}), ElementsAre("models"));
}

/// What `sonde complete-words` prints behind the words.
std::vector<std::string> printed(std::vector<const char*> words) {
  words.insert(words.begin(), {"sonde", "complete-words"});
  ::testing::internal::CaptureStdout();
  EXPECT_FALSE(parse_command_line(static_cast<int>(words.size()), words.data()).has_value());
  std::istringstream lines(::testing::internal::GetCapturedStdout());
  std::vector<std::string> offered;
  for (std::string line; std::getline(lines, line);) offered.push_back(line);
  return offered;
}

TEST(CompletionTest, sonde_offers_what_it_accepts) {
  EXPECT_THAT(printed({"me"}), ElementsAre("merge"));
  EXPECT_THAT(printed({"run", "--suite", ""}), ElementsAre("full", "quick", "standard"));
  EXPECT_THAT(printed({"run", "--backend", "sim:h"}), Contains("sim:h200"));
  EXPECT_THAT(printed({"run", "--jobs", "tlb,cache."}), Contains("tlb,cache.l1"));
  EXPECT_THAT(printed({"run", "--set", "latency."}),
              AllOf(Not(IsEmpty()), Each(StartsWith("latency."))));
  EXPECT_THAT(printed({"run", "--sweep", "memory"}), ElementsAre("memory-percent="));
  EXPECT_THAT(printed({"run", "--sweep", "output"}), IsEmpty());  // decides no result
  EXPECT_THAT(printed({"list", ""}), ElementsAre("devices", "jobs", "metrics", "models"));
  EXPECT_THAT(printed({"export", "--format", "p"}), ElementsAre("prometheus"));
  EXPECT_THAT(printed({"complete"}), IsEmpty());
}

}  // namespace
}  // namespace sonde
