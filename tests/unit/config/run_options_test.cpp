#include "config/run_options.hpp"

#include "base/error.hpp"

#include <gmock/gmock.h>

namespace sonde {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;

TEST(RunOptionsTest, the_hash_follows_what_decides_the_results) {
  const RunOptions options{.backend = "sim:h200"};
  RunOptions elsewhere = options;
  elsewhere.output = "x.h5";
  elsewhere.job_timeout_s = 5;
  RunOptions other_seed = options;
  other_seed.seed = 2;

  EXPECT_EQ(hash_options(options), hash_options(elsewhere));
  EXPECT_NE(hash_options(options), hash_options(RunOptions{.backend = "sim:gtx980"}));
  EXPECT_NE(hash_options(options), hash_options(other_seed));
}

TEST(RunOptionsTest, questions_in_place_of_a_run_are_not_kept) {
  const RunOptions options{.suite = "quick", .jobs = {"clock", "tlb"}, .dry_run = true};

  EXPECT_THAT(to_json(options),
              AllOf(HasSubstr(R"("suite":"quick")"), HasSubstr(R"("jobs":["clock","tlb"])"),
                    HasSubstr(R"("job_timeout_s":600.0)"), Not(HasSubstr("dry"))));
  EXPECT_THAT(to_toml(options),
              AllOf(HasSubstr("suite = \"quick\"\n"), HasSubstr("jobs = [\"clock\", \"tlb\"]\n"),
                    HasSubstr("job-timeout-s = 600\n"), Not(HasSubstr("dry"))));
}

TEST(RunOptionsTest, what_differs_is_told_if_it_decides_the_results) {
  const std::string usual = to_json(RunOptions{});
  const std::string own =
      to_json({.suite = "quick", .jobs = {"clock", "tlb"}, .output = "x.h5", .job_timeout_s = 5});

  EXPECT_EQ(describe_difference(own, usual),
            "--suite quick, not standard; --jobs clock,tlb, not none");
  EXPECT_EQ(describe_difference(own, own), "");
  EXPECT_EQ(describe_difference("{}", to_json({.repeat = 3})), "--repeat 0, not 3");
  EXPECT_EQ(describe_difference("no JSON", usual), "");
  const std::string_view except[]{"suite", "seed"};
  EXPECT_EQ(describe_difference(own, usual, except), "--jobs clock,tlb, not none");
}

TEST(RunOptionsTest, names_that_are_no_utf8_stay_visible_and_distinct) {
  const RunOptions one{.backend = "sim:gr\xf6.json",
                       .output =
                           "gr\xf6\xdf"
                           "e.h5"};
  const RunOptions other{.backend = "sim:gr\xe4.json"};

  EXPECT_THAT(to_json(one), HasSubstr(R"("output":"gr\\xf6\\xdfe.h5")"));
  EXPECT_NE(hash_options(one), hash_options(other));
  EXPECT_THROW(to_toml(one), ConfigError);  // it could not be read back
}

}  // namespace
}  // namespace sonde
