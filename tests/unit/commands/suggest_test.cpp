#include "commands/suggest.hpp"

#include <gtest/gtest.h>

namespace sonde {
namespace {

const std::vector<std::string> commands{"run", "report", "export", "status"};

TEST(SuggestTest, swapped_missing_and_changed_letters_are_near) {
  EXPECT_EQ(nearest_word("rnu", commands), "run");
  EXPECT_EQ(nearest_word("reprot", commands), "report");
  EXPECT_EQ(nearest_word("statu", commands), "status");
  EXPECT_EQ(nearest_word("expart", commands), "export");
}

TEST(SuggestTest, another_word_is_not) {
  EXPECT_EQ(nearest_word("delete", commands), "");
  EXPECT_EQ(nearest_word("a", commands), "");
  EXPECT_EQ(nearest_word("", commands), "");
  EXPECT_EQ(nearest_word(std::string(100000, 'x'), commands), "");
}

}  // namespace
}  // namespace sonde
