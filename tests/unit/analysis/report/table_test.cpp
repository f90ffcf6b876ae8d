#include "analysis/report/table.hpp"

#include <gmock/gmock.h>

namespace sonde {
namespace {

TEST(TableTest, plain_table_aligns_and_trims) {
  const TextTable table{{{"name"}, {"n", Align::right}, {"note"}},
                        {{"a", "12", ""}, {"long", "3", "x"}}};

  EXPECT_EQ(plain_table(table, "  "),
            "  name   n  note\n"
            "  a     12\n"
            "  long   3  x\n");
}

TEST(TableTest, markdown_table_marks_right_columns) {
  const TextTable table{{{"name"}, {"n", Align::right}}, {{"a|b", "1"}}};

  EXPECT_EQ(markdown_table(table), "| name | n |\n|---|---:|\n| a\\|b | 1 |\n");
}

TEST(TableTest, html_table_escapes) {
  const TextTable table{{{"x"}}, {{"<&>"}}};

  EXPECT_THAT(html_table(table), ::testing::HasSubstr("<td>&lt;&amp;&gt;</td>"));
}

TEST(TableTest, wraps_at_blanks_and_never_within_a_word) {
  EXPECT_EQ(wrap_text("one two three", 7), (std::vector<std::string>{"one two", "three"}));
  EXPECT_EQ(wrap_text("indivisible", 4), (std::vector<std::string>{"indivisible"}));
}

}  // namespace
}  // namespace sonde
