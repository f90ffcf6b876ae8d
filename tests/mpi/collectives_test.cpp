#include "mpi/collectives.hpp"

#include "base/error.hpp"
#include "fleet/gather.hpp"
#include "mpi/mpi_test.hpp"

#include <gmock/gmock.h>

#include <unistd.h>

#include <array>
#include <cstdlib>
#include <string>

namespace sonde {
namespace {

using testing::HasSubstr;
using CollectivesTest = test::MpiTest;

TEST_F(CollectivesTest, gathers_texts_of_any_length_in_rank_order) {
  const std::string mine(static_cast<std::size_t>(rank_) * 1000, 'x');

  const auto texts = gather_texts(comm_, mine);

  ASSERT_EQ(texts.size(), static_cast<std::size_t>(size_));
  for (std::size_t i = 0; i < texts.size(); ++i) EXPECT_EQ(texts[i].size(), i * 1000);
}

TEST_F(CollectivesTest, broadcasts_the_text_of_rank_0) {
  EXPECT_EQ(broadcast_text(comm_, "text of " + std::to_string(rank_)), "text of 0");
}

TEST_F(CollectivesTest, all_ranks_throw_the_first_failure_and_go_on_if_all_are_well) {
  const bool fails = rank_ == size_ - 1 || rank_ == size_ - 2;
  std::string text;
  EXPECT_NO_THROW(agree_after(comm_, [] {}));

  try {
    agree_after(comm_, [&] {
      if (fails) throw Error("reason of " + std::to_string(rank_));
    });
  } catch (const AgreedError& error) {
    text = error.what();
  }

  const int first = std::max(0, size_ - 2);
  EXPECT_THAT(text, HasSubstr("rank " + std::to_string(first) + " on "));
  EXPECT_THAT(text, HasSubstr("reason of " + std::to_string(first)));
}

TEST_F(CollectivesTest, views_tell_the_machine_and_what_each_rank_sees) {
  std::vector<DeviceChoice> visible{{"GPU-" + std::to_string(rank_), 0}, {"GPU-shared", 1}};
  if (rank_ == 1) visible.clear();

  const auto views = gather_views(comm_, visible);

  ASSERT_EQ(views.size(), static_cast<std::size_t>(size_));
  for (int i = 0; i < size_; ++i) {
    const RankView& view = views[static_cast<std::size_t>(i)];
    EXPECT_EQ(view.rank, i);
    EXPECT_EQ(view.machine, 0);
    EXPECT_EQ(view.node, node_name());
    EXPECT_EQ(view.uuids.size(), i == 1 ? 0U : 2U);
  }
}

/// As Slurm sets it for the ranks of a node.
class SlurmName {
 public:
  explicit SlurmName(const std::string& name) { setenv("SLURMD_NODENAME", name.c_str(), 1); }
  ~SlurmName() { unsetenv("SLURMD_NODENAME"); }
  SlurmName(const SlurmName&) = delete;
  SlurmName& operator=(const SlurmName&) = delete;
};

TEST_F(CollectivesTest, a_node_is_called_as_slurm_calls_it_and_its_machine_is_found_by_memory) {
  const SlurmName slurm("n" + std::to_string(rank_));

  const auto views = gather_views(comm_, {});

  for (const RankView& view : views) {
    EXPECT_EQ(view.node, "n" + std::to_string(view.rank));
    EXPECT_EQ(view.machine, 0);
  }
}

TEST_F(CollectivesTest, without_a_name_from_slurm_a_node_has_that_of_the_host) {
  std::array<char, 256> host{};
  ASSERT_EQ(gethostname(host.data(), host.size() - 1), 0);
  const SlurmName slurm("");

  EXPECT_EQ(node_name(), host.data());
}

}  // namespace
}  // namespace sonde
