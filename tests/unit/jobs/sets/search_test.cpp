// The one search for sets, on a toy whose sets are known.
#include "jobs/sets/search.hpp"

#include "analysis/structure/replacement/policies.hpp"
#include "unit/jobs/sets/toy_sets.hpp"

#include <algorithm>
#include <map>

namespace sonde {
namespace {

constexpr std::uint64_t line_bytes = 128;
constexpr std::uint64_t sets = 16;

/// Sets chosen by bits 7 to 10: a list misses in every pass where it has more lines than ways.
class ToyProbe final : public ToySets {
 public:
  ToyProbe(JobRun& run, std::uint32_t ways)
      : ToySets(run,
                {.name = "cache.l1",
                 .pool = {.line_bytes = line_bytes,
                          .span_bytes = 64 * sets * line_bytes,
                          .cached_lines = sets * ways,
                          .seed = 1}},
                ways) {}

  bool finds_evictors = true;
  bool has_time_for_records = true;

  std::optional<PassEvictors> find_pass_evictors(std::uint64_t) override {
    return finds_evictors ? std::optional(PassEvictors{}) : std::nullopt;
  }
  std::vector<MissCounts> ask(std::span<const Lines> lists, const PassEvictors&) override {
    constexpr std::uint32_t passes = 8;
    std::vector<MissCounts> answers;
    for (const Lines& list : lists) {
      std::map<std::uint64_t, std::uint32_t> members;
      for (std::uint64_t line : list) ++members[line / line_bytes % sets];
      MissCounts& counts = answers.emplace_back(MissCounts{{}, passes, 0});
      for (std::uint64_t line : list) {
        counts.misses.push_back(members[line / line_bytes % sets] > ways_ ? passes : 0);
      }
      const bool any = std::any_of(counts.misses.begin(), counts.misses.end(),
                                   [](std::uint32_t misses) { return misses > 0; });
      counts.passes_with_misses = any ? passes : 0;
    }
    return answers;
  }
  std::vector<AccessRecord> record(const Lines& lines, const Lines& evictors,
                                   std::vector<std::vector<std::uint16_t>> orders) override {
    if (!has_time_for_records) throw SearchOverTime();
    return ToySets::record(lines, evictors, std::move(orders));
  }
};

using SetSearchTest = ToySetsTest;

TEST_F(SetSearchTest, says_why_it_leaves_metrics_without_a_finding) {
  ToyProbe probe(run, 4);
  probe.finds_evictors = false;

  SetFindings found = find_sets(probe);
  report_sets(probe, found);

  EXPECT_FALSE(found.confirmed());
  EXPECT_FALSE(found.reason.empty());
  EXPECT_TRUE(run.take_result().findings.empty());
}

TEST_F(SetSearchTest, knows_sets_whose_policy_it_has_no_time_for) {
  ToyProbe probe(run, 4);
  probe.has_time_for_records = false;

  SetFindings found = find_sets(probe);
  report_sets(probe, found);

  const std::vector<Finding> findings = run.take_result().findings;
  EXPECT_EQ(find_finding(findings, "cache.l1.sets")->value, Value(16.0));
  EXPECT_EQ(find_finding(findings, "cache.l1.replacement")->status, Status::not_resolvable);
}

TEST_F(SetSearchTest, sets_found_elsewhere_hold_only_where_they_are_the_same) {
  ToyProbe probe(run, 4);
  ToyProbe wider(run, 5);
  SetFindings found = find_sets(probe);
  report_sets(probe, found);

  EXPECT_EQ(try_sets(probe, found).right, 64u);
  EXPECT_EQ(2 * try_sets(wider, found).right, try_sets(wider, found).asked);
}

TEST_F(SetSearchTest, a_set_without_lines_in_the_pool_is_not_asked_for) {
  ToyProbe probe(run, 4);
  SetFindings found{.pool = probe.pool()};
  found.layout.index = {.kind = IndexKind::bit_field, .masks = {1ULL << 40}, .sets = 2};
  found.layout.ways_per_set = {4, 4};

  const Predictions tried = try_sets(probe, found);

  EXPECT_GT(tried.asked, 0u);
  EXPECT_LT(tried.asked, 64u);
}

}  // namespace
}  // namespace sonde
