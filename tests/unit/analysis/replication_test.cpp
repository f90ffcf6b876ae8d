// When replicates suffice, and what they give: by numbers that a person can check.
#include "analysis/replication.hpp"

#include <gtest/gtest.h>

namespace sonde {
namespace {

constexpr StoppingRule rule{.relative_error = 0.01, .least = 5, .most = 20};

TEST(StoppingRuleTest, few_replicates_are_never_enough) {
  EXPECT_FALSE(is_enough(std::vector<double>{}, rule));
  EXPECT_FALSE(is_enough(std::vector<double>{100, 100, 100, 100}, rule));
  EXPECT_TRUE(is_enough(std::vector<double>{100, 100, 100, 100, 100}, rule));
}

TEST(StoppingRuleTest, values_that_scatter_want_more) {
  // A standard deviation of some 6: of nine values 2 % of the centre, of 36 it would be 1 %.
  const std::vector<double> nine{94, 106, 100, 94, 106, 100, 94, 106, 100};
  EXPECT_FALSE(is_enough(nine, rule));
  std::vector<double> many;
  for (int i = 0; i < 16; ++i) many.insert(many.end(), nine.begin(), nine.end());
  EXPECT_TRUE(is_enough(many, {.relative_error = 0.01, .least = 5, .most = 1000}));
}

TEST(StoppingRuleTest, the_most_ends_it) {
  std::vector<double> values;
  for (int i = 0; i < 20; ++i) values.push_back(i % 2 == 0 ? 50 : 150);
  EXPECT_TRUE(is_enough(values, rule));
  values.pop_back();
  EXPECT_FALSE(is_enough(values, rule));
}

TEST(DeviationBetweenTest, sees_the_smaller_of_two_groups) {
  std::vector<double> values(9, 100.0);  // median absolute deviation 0
  values.insert(values.end(), 5, 110.0);
  EXPECT_GT(deviation_between(values), 2);
}

TEST(ReplicatesTest, an_outlier_moves_neither_value_nor_centre) {
  std::vector<std::vector<double>> replicates(10, std::vector<double>(50, 200.0));
  replicates[3][7] = 5000;
  for (double& cycles : replicates[8]) cycles = 900;

  const ReplicateSummary summary = summarize_replicates(replicates);

  EXPECT_EQ(summary.center, 200);
  EXPECT_EQ(summary.replicates, 10u);
  EXPECT_EQ(summary.samples, 500u);
}

TEST(ReplicatesTest, tell_what_one_try_repeats_from_what_others_reproduce) {
  std::vector<std::vector<double>> replicates;
  for (int i = 0; i < 9; ++i) {  // each steady to a cycle, 20 cycles apart
    const double center = 200 + 20 * (i % 3);
    std::vector<double>& samples = replicates.emplace_back();
    for (int j = 0; j < 30; ++j) samples.push_back(center + j % 3 - 1);
  }

  const Finding finding = found_replicated("latency.l2_cycles", summarize_replicates(replicates));

  EXPECT_NEAR(finding.repeatability, 1.4826, 1e-9);
  EXPECT_GT(finding.reproducibility, 15);
  EXPECT_LT(finding.reproducibility, 35);
  EXPECT_EQ(finding.replicates, 9u);
  EXPECT_NEAR(std::get<double>(finding.value), 220, 1e-9);
}

}  // namespace
}  // namespace sonde
