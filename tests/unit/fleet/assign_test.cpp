#include "fleet/assign.hpp"

#include "base/error.hpp"
#include "base/random.hpp"
#include "support/thrown.hpp"

#include <gmock/gmock.h>

#include <map>
#include <set>

namespace sonde {
namespace {

using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;
using Names = std::vector<std::string>;

enum class Binding { none, cuda_visible_devices };

/// One rank on a machine, as gather_views would describe it.
class AssignTest : public testing::Test {
 protected:
  void rank(int machine, Names uuids, Binding binding = Binding::none) {
    const int number = static_cast<int>(views_.size());
    views_.push_back({number, machine, "host" + std::to_string(machine), std::move(uuids),
                      binding == Binding::cuda_visible_devices});
  }
  Assignment assign() const { return assign_devices(views_); }
  std::string error() const {
    return test::thrown<AgreedError>([this] { assign(); });
  }
  std::vector<RankView> views_;
};

const auto bound = Binding::cuda_visible_devices;

TEST_F(AssignTest, views_are_taken_in_rank_order_and_who_finds_none_stands_down) {
  struct Case {
    std::vector<Names> views;
    Binding binding;
    std::vector<std::optional<std::string>> uuids;
  };
  for (const auto& [views, binding, uuids] :
       {Case{{{"B", "A"}}, Binding::none, {"B"}},
        Case{{{"A", "B", "C"}, {"A", "B", "C"}, {"A", "B", "C"}}, Binding::none, {"A", "B", "C"}},
        Case{{{"B"}, {"A"}}, bound, {"B", "A"}},
        Case{{{"A", "B"}, {"A", "B"}, {"A", "B"}}, bound, {"A", "B", std::nullopt}},
        Case{{{"A"}, {"A"}}, Binding::none, {"A", std::nullopt}},
        Case{{{}, {"A"}}, Binding::none, {std::nullopt, "A"}}}) {
    views_.clear();
    for (const Names& view : views) rank(0, view, binding);
    EXPECT_EQ(assign().uuid_of_rank, uuids);
    EXPECT_TRUE(assign().unaudited.empty() || views.size() == 1);
  }
}

TEST_F(AssignTest, machines_are_apart) {
  rank(0, {"A", "B"});
  rank(4, {"C", "D"});
  rank(0, {"A", "B"});
  rank(4, {"C", "D"});

  EXPECT_THAT(assign().uuid_of_rank, ElementsAre("A", "C", "B", "D"));
}

TEST_F(AssignTest, devices_of_nobody_are_unaudited) {
  rank(0, {"A", "B", "C"});
  rank(1, {"D", "E"});

  const auto unaudited = assign().unaudited;

  ASSERT_EQ(unaudited.size(), 3U);
  EXPECT_EQ(unaudited[0].uuid, "B");
  EXPECT_EQ(unaudited[0].node, "host0");
  EXPECT_EQ(unaudited[2].uuid, "E");
  EXPECT_EQ(unaudited[2].node, "host1");
}

TEST_F(AssignTest, two_ranks_bound_to_the_same_gpu_are_an_error) {
  rank(0, {"B"}, bound);
  rank(0, {"A"}, bound);
  rank(0, {"A"}, bound);

  EXPECT_THAT(error(), AllOf(HasSubstr("rank 1 on host0"), HasSubstr("rank 2 on host0"),
                             HasSubstr("GPU A"), HasSubstr("one rank per GPU")));

  views_[0].uuids = {"A", "B"};
  views_[1].uuids = {"B"};
  EXPECT_THAT(error(), AllOf(HasSubstr("rank 2 on host0"), HasSubstr("CUDA_VISIBLE_DEVICES")));
}

TEST_F(AssignTest, one_gpu_seen_from_two_machines_is_an_error_only_if_both_would_take_it) {
  rank(0, {"A"});
  rank(1, {"A"});

  EXPECT_THAT(error(), AllOf(HasSubstr("rank 0 on host0"), HasSubstr("rank 1 on host1"),
                             HasSubstr("GPU A"), HasSubstr("containers")));
}

TEST_F(AssignTest, machines_are_two_though_their_names_are_one) {
  rank(0, {"A", "B"});
  rank(1, {"C", "D"});
  for (RankView& view : views_) view.node = "n1";

  EXPECT_THAT(assign().uuid_of_rank, ElementsAre("A", "C"));
  EXPECT_THAT(describe_shared_names(views_), HasSubstr("2 machines are called n1 ("));
}

TEST_F(AssignTest, a_machine_is_one_though_its_ranks_have_two_names) {
  rank(0, {"A", "B"});
  rank(0, {"A", "B"});
  views_[0].node = "4f1c7a09be21";
  views_[1].node = "d2870cc1a6f3";

  EXPECT_THAT(assign().uuid_of_rank, ElementsAre("A", "B"));
  EXPECT_EQ(describe_shared_names(views_), "");
}

/// Largest number of GPUs that ranks [at, ...) can take, by trying everything.
std::size_t best_count(const std::vector<RankView>& views, std::size_t at,
                       std::set<std::string>& taken) {
  if (at == views.size()) return 0;
  std::size_t best = best_count(views, at + 1, taken);
  for (const std::string& uuid : views[at].uuids) {
    if (!taken.insert(uuid).second) continue;
    best = std::max(best, 1 + best_count(views, at + 1, taken));
    taken.erase(uuid);
  }
  return best;
}

TEST_F(AssignTest, random_views_are_matched_best_or_refused) {
  Random random(20240607);
  std::map<bool, int> seen;
  for (int round = 0; round < 400; ++round) {
    views_.clear();
    const auto ranks = 1 + random.below(5);
    for (std::uint64_t i = 0; i < ranks; ++i) {
      Names uuids;
      for (const char* uuid : {"A", "B", "C", "D"}) {
        if (random.below(2)) uuids.push_back(uuid);
      }
      rank(0, uuids, random.below(2) ? bound : Binding::none);
    }
    std::set<std::string> none;
    const std::size_t best = best_count(views_, 0, none);
    try {
      const Assignment assignment = assign();
      seen[true]++;
      std::set<std::string> taken;
      for (std::size_t i = 0; i < views_.size(); ++i) {
        const auto& uuid = assignment.uuid_of_rank[i];
        if (!uuid) continue;
        EXPECT_TRUE(taken.insert(*uuid).second) << "two ranks share " << *uuid;
        EXPECT_THAT(views_[i].uuids, testing::Contains(*uuid));
      }
      EXPECT_EQ(taken.size(), best);
    } catch (const AgreedError&) {
      seen[false]++;
      EXPECT_LT(best, ranks) << "refused although there is a GPU for every rank";
    }
  }
  EXPECT_GT(seen[true], 50);
  EXPECT_GT(seen[false], 50);
}

}  // namespace
}  // namespace sonde
