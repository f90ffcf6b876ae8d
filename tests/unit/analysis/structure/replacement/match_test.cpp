// Every policy comes back from chases over toy sets, for many numbers of ways, with outliers;
// what cannot be told is not told.
#include "analysis/structure/replacement/match.hpp"

#include "base/error.hpp"
#include "unit/analysis/structure/toy_set.hpp"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace sonde {
namespace {

using test::chase_toy;
using test::make_toy;
using testing::Contains;
using testing::ElementsAre;
using testing::HasSubstr;

struct Plan {
  Policy policy = Policy::lru;
  std::uint32_t ways = 4;
  std::vector<double> probability = {};
  double noise = 1e-3;
  std::uint64_t seed = 1;
  std::size_t policy_traces = 4;
  std::size_t cyclic_traces = 0;
  std::size_t cyclic_accesses = 120;
};

using MakePolicy = std::function<std::unique_ptr<test::ToyPolicy>(std::uint64_t seed)>;

ReplacementFit match(const Plan& plan, const MakePolicy& make) {
  const auto record = [&](const std::vector<std::uint16_t>& lines, std::uint64_t launch) {
    const std::uint64_t seed = mix_bits(plan.seed * 1000 + launch);
    return chase_toy(*make(seed), plan.ways, lines, plan.noise, seed + 1);
  };
  std::vector<AccessRecord> policy_records;
  std::vector<AccessRecord> cyclic_records;
  for (std::size_t i = 0; i < plan.policy_traces; ++i) {
    const std::size_t accesses = std::max(1000U, 5 * plan.ways);
    policy_records.push_back(record(policy_trace(plan.ways, accesses, plan.seed + i), i));
  }
  for (std::size_t i = 0; i < plan.cyclic_traces; ++i) {
    cyclic_records.push_back(record(cyclic_trace(plan.ways, plan.cyclic_accesses), 500 + i));
  }
  return match_replacement(plan.ways, policy_records, cyclic_records);
}

ReplacementFit match(const Plan& plan) {
  return match(plan, [&](std::uint64_t seed) {
    return make_toy(plan.policy, plan.ways, seed, plan.probability);
  });
}

std::string name(const ReplacementFit& fit) {
  std::string text = fit.policy ? std::string(to_text(*fit.policy)) : "none";
  for (Policy policy : fit.alike) text += fmt::format(" ~{}", to_text(policy));
  return text + " (" + fit.reason + ")";
}

constexpr std::uint32_t many_ways[] = {3, 4, 6, 8, 13, 16, 20, 56, 96, 192, 480};

class RulesTest : public testing::TestWithParam<Policy> {};

TEST_P(RulesTest, comes_back_for_any_number_of_ways) {
  for (std::uint32_t ways : many_ways) {
    for (std::uint64_t seed = 1; seed <= (ways < 100 ? 6 : 2); ++seed) {
      const ReplacementFit fit = match({.policy = GetParam(), .ways = ways, .seed = seed});

      EXPECT_EQ(fit.policy, GetParam()) << ways << " ways: " << name(fit);
      EXPECT_GE(fit.confidence, 0.95) << ways << " ways: " << name(fit);
      EXPECT_NEAR(fit.agreement, 0.999, 0.002);
      EXPECT_TRUE(fit.alike.empty());
    }
  }
}

INSTANTIATE_TEST_SUITE_P(ReplacementTest, RulesTest,
                         testing::Values(Policy::lru, Policy::fifo, Policy::tree_plru, Policy::nru,
                                         Policy::clock, Policy::srrip, Policy::guarded_lru));

TEST(ReplacementTest, bimodal_insertion_comes_back) {
  for (std::uint32_t ways : many_ways) {
    if (ways > 100) continue;  // too few insertions by these chases
    for (std::uint64_t seed = 1; seed <= 4; ++seed) {
      const ReplacementFit fit = match({.policy = Policy::brrip, .ways = ways, .seed = seed});

      EXPECT_TRUE(fit.policy == Policy::brrip || (ways > 50 && fit.alike.front() == Policy::brrip))
          << ways << " ways: " << name(fit);
      EXPECT_NEAR(fit.agreement, 0.999, 0.002);
    }
  }
}

TEST(ReplacementTest, two_ways_leave_several_policies_alike) {
  const ReplacementFit lru = match({.policy = Policy::lru, .ways = 2});
  const ReplacementFit fifo = match({.policy = Policy::fifo, .ways = 2});

  EXPECT_FALSE(lru.policy.has_value());
  EXPECT_THAT(lru.alike, ElementsAre(Policy::lru, Policy::tree_plru, Policy::nru));
  EXPECT_LT(lru.confidence, 0.95);
  EXPECT_EQ(lru.reason, "LRU, tree PLRU, NRU cannot be distinguished with 2 ways and these chases");
  EXPECT_THAT(fifo.alike, ElementsAre(Policy::fifo, Policy::clock));
}

TEST(ReplacementTest, one_way_leaves_all_alike) {
  const ReplacementFit fit = match({.policy = Policy::lru, .ways = 1});

  EXPECT_FALSE(fit.policy.has_value());
  EXPECT_EQ(fit.alike.size(), 10U);
  EXPECT_THAT(fit.reason, HasSubstr("one way"));
}

TEST(ReplacementTest, a_hit_behind_every_fill_hides_where_lines_are_inserted) {
  for (Policy policy : {Policy::srrip, Policy::brrip}) {
    for (std::uint32_t ways : {4U, 7U, 16U}) {
      std::vector<AccessRecord> records;
      for (std::uint64_t seed = 1; seed <= 4; ++seed) {
        std::vector<std::uint16_t> pairs;
        for (std::uint16_t line : policy_trace(ways, 1000, seed))
          pairs.insert(pairs.end(), 2, line);
        records.push_back(chase_toy(*make_toy(policy, ways, seed, {}), ways, pairs, 0, seed));
      }
      const ReplacementFit fit = match_replacement(ways, records, {});

      EXPECT_FALSE(fit.policy.has_value()) << ways << " ways: " << name(fit);
      EXPECT_THAT(fit.alike, testing::IsSupersetOf({Policy::srrip, Policy::brrip})) << name(fit);
    }
  }
}

TEST(ReplacementTest, chases_too_short_name_nothing) {
  const AccessRecord record{{0, 1, 2, 3, 0, 1, 2, 3}, {1, 1, 1, 1, 0, 0, 0, 0}};

  const ReplacementFit fit = match_replacement(4, {record}, {});

  EXPECT_FALSE(fit.policy.has_value());
  EXPECT_THAT(fit.alike, testing::IsSupersetOf({Policy::lru, Policy::clock, Policy::srrip}));
  EXPECT_THAT(match_replacement(4, {}, {}).reason, HasSubstr("no accesses"));
  EXPECT_THROW(match_replacement(0, {record}, {}), Error);
  EXPECT_THROW(match_replacement(4, {{{0, 1}, {true}}}, {}), Error);
}

TEST(ReplacementTest, names_the_variant) {
  for (const ModelRule& rule : all_model_rules()) {
    for (std::uint32_t ways : {8U, 13U, 96U}) {
      std::vector<AccessRecord> records;
      for (std::uint64_t seed = 1; seed <= 4; ++seed) {
        const auto lines = policy_trace(ways, 3000, seed);
        records.push_back({lines, play_trace(rule, ways, lines)});
      }
      const ReplacementFit fit = match_replacement(ways, records, {});

      ASSERT_EQ(fit.policy, rule.policy) << ways << " ways, " << rule.variant << ": " << name(fit);
      EXPECT_EQ(fit.reason, rule.variant);
      EXPECT_EQ(fit.agreement, 1);
    }
  }
}

/// Evicts what was used last.
class MostRecent final : public test::ToyPolicy {
 public:
  void hit(std::size_t way) override { last_ = way; }
  void fill(std::size_t way) override { last_ = way; }
  std::size_t victim() override { return last_; }

 private:
  std::size_t last_ = 0;
};

/// Least recently used, but one victim in eight is random.
class LooseLru final : public test::ToyPolicy {
 public:
  LooseLru(std::size_t ways, std::uint64_t seed) : ways_(ways), random_(seed) {}
  void hit(std::size_t way) override { queue_.hit(way); }
  void fill(std::size_t way) override { queue_.fill(way); }
  std::size_t victim() override {
    return random_.below(8) == 0 ? random_.below(ways_) : queue_.victim();
  }

 private:
  std::size_t ways_;
  Random random_;
  test::ToyQueue queue_{true};
};

TEST(ReplacementTest, policies_that_nobody_listed_get_no_name) {
  for (std::uint32_t ways : {4U, 8U, 16U, 96U}) {
    const Plan plan{.ways = ways, .cyclic_traces = 40, .cyclic_accesses = 20 * (ways + 1)};
    const ReplacementFit recent =
        match(plan, [](std::uint64_t) { return std::make_unique<MostRecent>(); });
    const ReplacementFit loose =
        match(plan, [&](std::uint64_t seed) { return std::make_unique<LooseLru>(ways, seed); });

    EXPECT_FALSE(recent.policy.has_value()) << ways << " ways: " << name(recent);
    EXPECT_FALSE(loose.policy.has_value()) << ways << " ways: " << name(loose);
    EXPECT_THAT(loose.reason, HasSubstr("no known rule"));
    EXPECT_LT(loose.confidence, 0.95);
  }
}

TEST(ReplacementTest, random_comes_back_for_any_number_of_ways) {
  for (std::uint32_t ways : {2U, 3U, 4U, 13U, 56U, 480U}) {
    const ReplacementFit fit = match({.policy = Policy::random,
                                      .ways = ways,
                                      .noise = 1e-4,
                                      .cyclic_traces = 60,
                                      .cyclic_accesses = 5 * (ways + 1) + 80});

    ASSERT_EQ(fit.policy, Policy::random) << ways << " ways: " << name(fit);
    EXPECT_EQ(fit.way_probability.size(), ways);
    EXPECT_GE(fit.confidence, ways < 200 ? 0.95 : 0.8);
  }
}

TEST(ReplacementTest, probabilities_of_the_fermi_l1_come_back) {
  const std::vector<double> truth = {1.0 / 6, 1.0 / 2, 1.0 / 6, 1.0 / 6};
  for (std::uint64_t seed = 1; seed <= 8; ++seed) {
    for (double noise : {0.0, 1e-4, 1e-3}) {
      const ReplacementFit fit = match({.policy = Policy::weighted_ways,
                                        .probability = truth,
                                        .noise = noise,
                                        .seed = seed,
                                        .cyclic_traces = 50});

      ASSERT_EQ(fit.policy, Policy::weighted_ways) << name(fit);
      EXPECT_GE(fit.confidence, 0.95);
      for (std::size_t way = 0; way < 4; ++way) {
        EXPECT_NEAR(fit.way_probability[way], truth[way], 0.03) << "noise " << noise;
      }
    }
  }
}

TEST(ReplacementTest, one_favourite_among_many_ways_is_seen) {
  std::vector<double> truth(120, 1.0 / 124);
  truth[1] = 5.0 / 124;

  const ReplacementFit fit = match({.policy = Policy::weighted_ways,
                                    .ways = 120,
                                    .probability = truth,
                                    .noise = 1e-4,
                                    .cyclic_traces = 60,
                                    .cyclic_accesses = 1200});

  ASSERT_EQ(fit.policy, Policy::weighted_ways) << name(fit);
  EXPECT_NEAR(fit.way_probability[1], truth[1], 0.03);
}

TEST(ReplacementTest, random_replacement_is_not_named_without_victims) {
  const ReplacementFit fit = match({.policy = Policy::random, .ways = 8});

  EXPECT_FALSE(fit.policy.has_value());
  EXPECT_THAT(fit.reason, HasSubstr("too few to tell random replacement"));
}

ReplacementFit set_with(std::optional<Policy> policy, std::vector<Policy> alike = {}) {
  ReplacementFit fit;
  fit.policy = policy;
  fit.alike = std::move(alike);
  fit.confidence = policy ? 0.99 : 0.5;
  fit.agreement = 1;
  return fit;
}

TEST(CombineSetsTest, one_policy_of_all_sets_is_that_of_the_cache) {
  for (int policy = 0; policy < static_cast<int>(Policy::set_duelling); ++policy) {
    const auto alone = set_with(static_cast<Policy>(policy));
    EXPECT_EQ(combine_sets({alone, alone}).policy, alone.policy);
  }
  const auto cache = combine_sets({set_with(Policy::lru), set_with(Policy::lru)});

  EXPECT_EQ(cache.policy, Policy::lru);
  EXPECT_NEAR(cache.confidence, 0.99, 1e-9);
}

TEST(CombineSetsTest, sets_that_distinguish_policies_decide_for_those_that_do_not) {
  const auto cache =
      combine_sets({set_with(std::nullopt, {Policy::lru, Policy::nru}), set_with(Policy::nru)});

  EXPECT_EQ(cache.policy, Policy::nru);
  EXPECT_LT(cache.confidence, 0.95);
}

TEST(CombineSetsTest, srrip_here_and_brrip_there_is_set_duelling) {
  std::vector<ReplacementFit> sets(15, set_with(Policy::srrip));
  sets.push_back(set_with(Policy::brrip));

  const auto cache = combine_sets(sets);

  EXPECT_EQ(cache.policy, Policy::set_duelling);
  EXPECT_EQ(cache.reason, "15 of 16 sets follow SRRIP, 1 BRRIP");
}

TEST(CombineSetsTest, sets_that_differ_otherwise_have_no_common_policy) {
  const auto cache = combine_sets({set_with(Policy::lru), set_with(Policy::fifo)});

  EXPECT_FALSE(cache.policy.has_value());
  EXPECT_THAT(cache.reason, HasSubstr("no common policy"));
}

TEST(CombineSetsTest, one_disturbed_set_of_many_costs_confidence_only) {
  std::vector<ReplacementFit> sets(7, set_with(Policy::clock));
  sets.push_back(set_with(std::nullopt));

  const auto cache = combine_sets(sets);

  EXPECT_EQ(cache.policy, Policy::clock);
  EXPECT_NEAR(cache.confidence, 0.99 * 7 / 8, 1e-9);
}

TEST(CombineSetsTest, probabilities_are_averaged) {
  ReplacementFit one = set_with(Policy::weighted_ways);
  ReplacementFit other = one;
  one.way_probability = {0.2, 0.8};
  other.way_probability = {0.3, 0.7};

  EXPECT_THAT(combine_sets({one, other}).way_probability,
              ElementsAre(testing::DoubleEq(0.25), testing::DoubleEq(0.75)));
}

TEST(PolicyTraceTest, stays_within_its_lines_and_repeats_itself) {
  for (std::uint32_t ways : {1U, 4U, 56U}) {
    const auto chase = policy_trace(ways, 800, 3);

    EXPECT_EQ(chase.size(), 800U);
    EXPECT_LT(*std::max_element(chase.begin(), chase.end()), policy_trace_lines(ways));
    EXPECT_EQ(chase, policy_trace(ways, 800, 3));
    EXPECT_NE(chase, policy_trace(ways, 800, 4));
  }
  EXPECT_THAT(cyclic_trace(2, 5), ElementsAre(0, 1, 2, 0, 1));
}

}  // namespace
}  // namespace sonde
