// The bars of the scorer of random GPUs, and what counts as an answer.
#include "sim/score/score_table.hpp"
#include "support/random_gpu.hpp"

#include "device/sim/model/model_files.hpp"

#include <gmock/gmock.h>

namespace sonde::test {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

GpuScore score_of(Verdict verdict, bool is_confident, std::size_t count,
                  const std::string& metric) {
  return {
      .gpu = "seed 1",
      .values = std::vector<ScoredValue>(
          count, {.metric = metric, .verdict = verdict, .is_confident = is_confident, .line = {}})};
}

TEST(ScoreTableTest, nothing_judged_meets_no_bar) {
  EXPECT_THAT(ScoreTable().missed({}), ElementsAre(HasSubstr("nothing was judged")));
}

TEST(ScoreTableTest, a_small_family_that_is_wrong_is_not_hidden_by_a_large_one) {
  ScoreTable table;
  table.add(score_of(Verdict::right, true, 5000, "tlb.l1.entries"));
  table.add(score_of(Verdict::right, true, 19, "cache.l2.sets"));
  EXPECT_THAT(table.missed({}), IsEmpty());
  table.add(score_of(Verdict::wrong, false, 1, "cache.l2.sets"));
  EXPECT_THAT(table.missed({}), ElementsAre(HasSubstr("cache.l2: 95.00 %")));
}

TEST(ScoreTableTest, confident_falsehoods_unresolved_values_and_lost_jobs_miss_bars_of_their_own) {
  const Bars bars{.least_honest_share = 0.98, .least_confident_share = 0.995};
  ScoreTable table;
  table.add(score_of(Verdict::right, true, 980, "tlb.l1.entries"));
  table.add(score_of(Verdict::wrong, true, 10, "tlb.l1.entries"));
  EXPECT_THAT(table.missed(bars), ElementsAre(HasSubstr("of the confident answers right")));
  table.add(score_of(Verdict::unresolvable, false, 60, "tlb.l1.entries"));
  EXPECT_THAT(table.missed(bars), ElementsAre(HasSubstr("unresolved"), HasSubstr("confident")));
  table.add({.gpu = "seed 2", .lost_jobs = {"tlb of seed 2: why"}});
  EXPECT_THAT(
      table.missed(
          {.least_honest_share = 0, .most_unresolved_share = 1, .least_confident_share = 0}),
      ElementsAre(HasSubstr("1 jobs lost")));
}

TEST(RandomGpuTest, every_drawn_model_can_be_read_and_is_the_same_again) {
  for (const auto draw : {draw_gpu, draw_plausible_gpu}) {
    for (std::uint64_t seed = 1; seed <= 100; ++seed) {
      const std::string text = draw(seed);
      EXPECT_EQ(text, draw(seed)) << seed;
      EXPECT_NO_THROW(sim::parse_model(text, "seed " + std::to_string(seed)));
    }
  }
}

}  // namespace
}  // namespace sonde::test
