// Every policy comes back from chases over simulated sets, for many numbers of ways, with outliers;
// what cannot be told is not told.
#include "analysis/structure/replacement/match.hpp"

#include "base/error.hpp"
#include "base/random.hpp"
#include "device/sim/memory/cache_array.hpp"

#include <fmt/format.h>
#include <gmock/gmock.h>

namespace sonde {
namespace {

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

sim::DeclaredPolicy declared(Policy policy) {
  switch (policy) {
    case Policy::lru: return sim::DeclaredPolicy::lru;
    case Policy::fifo: return sim::DeclaredPolicy::fifo;
    case Policy::guarded_lru: return sim::DeclaredPolicy::guarded_lru;
    case Policy::tree_plru: return sim::DeclaredPolicy::tree_plru;
    case Policy::nru: return sim::DeclaredPolicy::nru;
    case Policy::clock: return sim::DeclaredPolicy::clock;
    case Policy::srrip: return sim::DeclaredPolicy::srrip;
    case Policy::weighted_ways: return sim::DeclaredPolicy::weighted_ways;
    default: return sim::DeclaredPolicy::random;
  }
}

/// Chases lines in an empty set; a share `noise` of the accesses is slow without being a miss.
AccessRecord chase_declared(sim::DeclaredPolicy policy, const Plan& plan,
                            const std::vector<std::uint16_t>& lines, std::uint64_t seed) {
  constexpr std::uint64_t line_bytes = 128;
  sim::CacheModel model;
  model.line_bytes = model.sector_bytes = model.fetch_bytes = line_bytes;
  sim::Geometry geometry;
  geometry.ways_per_set = {plan.ways};
  geometry.index.kind = sim::DeclaredIndex::Kind::modulo;
  geometry.index.granularity_bytes = line_bytes;
  geometry.replacement = {policy, plan.probability};
  sim::CacheArray set(model, geometry);
  set.clear(seed);
  Random random(seed + 1);
  AccessRecord record{lines, {}};
  for (const std::uint16_t line : lines) {
    const bool missed = !set.access(line * line_bytes);
    record.missed.push_back(missed || random.unit() < plan.noise);
  }
  return record;
}

/// @param chase lines in an empty set, with a seed
template <class Chase>
ReplacementFit match(const Plan& plan, const Chase& chase) {
  std::vector<AccessRecord> policy_records;
  std::vector<AccessRecord> cyclic_records;
  const auto seed = [&](std::uint64_t launch) { return mix_bits(plan.seed * 1000 + launch); };
  for (std::size_t i = 0; i < plan.policy_traces; ++i) {
    const std::size_t accesses = std::max(1000U, 5 * plan.ways);
    policy_records.push_back(chase(policy_trace(plan.ways, accesses, plan.seed + i), seed(i)));
  }
  for (std::size_t i = 0; i < plan.cyclic_traces; ++i) {
    cyclic_records.push_back(chase(cyclic_trace(plan.ways, plan.cyclic_accesses), seed(500 + i)));
  }
  return match_replacement(plan.ways, policy_records, cyclic_records);
}

ReplacementFit match(const Plan& plan) {
  return match(plan, [&](const std::vector<std::uint16_t>& lines, std::uint64_t seed) {
    return chase_declared(declared(plan.policy), plan, lines, seed);
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
                                         Policy::clock, Policy::guarded_lru));

TEST(ReplacementTest, srrip_is_not_told_from_sets_that_duel) {
  for (std::uint32_t ways : many_ways) {
    const ReplacementFit fit = match({.policy = Policy::srrip, .ways = ways});

    EXPECT_FALSE(fit.policy.has_value()) << ways << " ways: " << name(fit);
    EXPECT_THAT(fit.alike, testing::IsSupersetOf({Policy::srrip, Policy::set_duelling}));
  }
}

TEST(ReplacementTest, insertion_at_random_intervals_gets_no_name) {
  for (std::uint32_t ways : many_ways) {
    const Plan plan{.ways = ways, .cyclic_traces = 40, .cyclic_accesses = 20 * (ways + 1)};
    const ReplacementFit fit = match(plan, [&](const auto& lines, std::uint64_t seed) {
      return chase_declared(sim::DeclaredPolicy::brrip, plan, lines, seed);
    });

    EXPECT_FALSE(fit.policy.has_value()) << ways << " ways: " << name(fit);
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

TEST(ReplacementTest, chases_too_short_name_nothing) {
  const AccessRecord record{{0, 1, 2, 3, 0, 1, 2, 3}, {1, 1, 1, 1, 0, 0, 0, 0}};

  const ReplacementFit fit = match_replacement(4, {record}, {});

  EXPECT_FALSE(fit.policy.has_value());
  EXPECT_THAT(fit.alike, testing::IsSupersetOf({Policy::lru, Policy::clock, Policy::srrip}));
  EXPECT_THAT(match_replacement(4, {}, {}).reason, HasSubstr("no accesses"));
  EXPECT_THROW(match_replacement(0, {record}, {}), Error);
  EXPECT_THROW(match_replacement(4, {{{0, 1}, {true}}}, {}), Error);
}

/// By a policy that nobody listed.
/// @param choose who leaves of those held, the least recently used first
template <class Choose>
AccessRecord chase_unlisted(std::size_t ways, const std::vector<std::uint16_t>& lines,
                            const Choose& choose) {
  AccessRecord record{lines, {}};
  std::vector<std::uint16_t> held;
  for (const std::uint16_t line : lines) {
    const auto at = std::ranges::find(held, line);
    const bool missed = at == held.end();
    if (!missed) held.erase(at);
    if (missed && held.size() == ways) {
      held.erase(held.begin() + static_cast<std::ptrdiff_t>(choose()));
    }
    held.push_back(line);
    record.missed.push_back(missed);
  }
  return record;
}

TEST(ReplacementTest, policies_that_nobody_listed_get_no_name) {
  for (std::uint32_t ways : {4U, 8U, 16U, 96U}) {
    const Plan plan{.ways = ways, .cyclic_traces = 40, .cyclic_accesses = 20 * (ways + 1)};
    const ReplacementFit most_recent = match(plan, [&](const auto& lines, std::uint64_t) {
      return chase_unlisted(ways, lines, [&] { return ways - 1; });
    });
    const ReplacementFit loose_lru = match(plan, [&](const auto& lines, std::uint64_t seed) {
      Random random(seed);
      return chase_unlisted(ways, lines,
                            [&] { return random.below(8) == 0 ? random.below(ways) : 0; });
    });

    EXPECT_FALSE(most_recent.policy.has_value()) << ways << " ways: " << name(most_recent);
    EXPECT_FALSE(loose_lru.policy.has_value()) << ways << " ways: " << name(loose_lru);
    EXPECT_THAT(loose_lru.reason, HasSubstr("no known rule"));
    EXPECT_LT(loose_lru.confidence, 0.95);
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

ReplacementFit set_with(std::optional<Policy> policy, std::vector<Policy> alike = {}) {
  ReplacementFit fit;
  fit.policy = policy;
  fit.alike = std::move(alike);
  fit.confidence = policy ? 0.99 : 0.5;
  fit.agreement = 1;
  return fit;
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

}  // namespace
}  // namespace sonde
