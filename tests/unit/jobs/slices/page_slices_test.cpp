#include "jobs/slices/page_slices.hpp"

#include <gmock/gmock.h>

namespace sonde {
namespace {

using testing::AllOf;
using testing::Contains;
using testing::ElementsAre;
using testing::Not;
using testing::SizeIs;

TEST(CoRunnersTest, come_from_every_gpc_but_that_of_the_prober) {
  const std::vector<double> gpcs{0, 0, 1, 1, 2, 2, 2, 2};

  EXPECT_THAT(choose_co_runners(gpcs, 8, 2, 2), ElementsAre(0, 1, 4, 6));
}

TEST(CoRunnersTest, sms_of_unknown_gpcs_are_left_out) {
  const std::vector<double> gpcs{0, -1, 1, 1};

  EXPECT_THAT(choose_co_runners(gpcs, 4, 2, 3), ElementsAre(0));
}

TEST(CoRunnersTest, without_gpcs_they_lie_all_over_the_sms) {
  const std::vector<int> sms = choose_co_runners({}, 132, 50, 3);

  EXPECT_THAT(sms, AllOf(SizeIs(21), Not(Contains(50))));
  EXPECT_EQ(sms.front(), 0);
  EXPECT_GT(sms.back(), 120);
}

TEST(CoRunnersTest, of_few_sms_all_others_are_taken) {
  EXPECT_THAT(choose_co_runners({}, 4, 1, 3), ElementsAre(0, 2, 3));
}

}  // namespace
}  // namespace sonde
