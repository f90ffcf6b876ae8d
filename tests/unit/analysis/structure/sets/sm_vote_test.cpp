#include "analysis/structure/sets/layout_check.hpp"

#include "base/random.hpp"

#include <gmock/gmock.h>

namespace sonde {
namespace {

using testing::IsEmpty;

std::vector<std::vector<bool>> answer_alike(std::size_t sms, std::size_t questions) {
  std::vector<bool> answers;
  for (std::size_t i = 0; i < questions; ++i) answers.push_back(i % 3 == 0);
  return std::vector(sms, answers);
}

TEST(SmVoteTest, answers_by_chance_make_nobody_odd) {
  Random random(3);
  auto answers = answer_alike(30, 500);
  for (auto& of_sm : answers) {
    for (std::size_t i = 0; i < 400; ++i) of_sm[i] = random.below(2) == 0;
  }

  EXPECT_THAT(find_odd_sms(answers, 2), IsEmpty());
}

/// As caches with random replacement do: of few SMs one alone says otherwise by chance.
TEST(SmVoteTest, of_few_sms_that_now_and_then_say_otherwise_none_is_odd) {
  Random random(4);
  for (int round = 0; round < 20; ++round) {
    auto answers = answer_alike(8, 2000);
    for (auto& of_sm : answers) {
      for (int i = 0; i < 60; ++i) of_sm[random.below(2000)] = random.below(2) == 0;
    }

    EXPECT_THAT(find_odd_sms(answers, 2), IsEmpty());
  }
}

TEST(SmVoteTest, of_two_sms_nobody_knows_which_is_right) {
  auto answers = answer_alike(2, 10);
  answers[0][0] = !answers[0][0];

  EXPECT_THAT(find_odd_sms(answers, 1), IsEmpty());
}

}  // namespace
}  // namespace sonde
