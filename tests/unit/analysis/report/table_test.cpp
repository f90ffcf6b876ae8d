#include "analysis/report/content.hpp"
#include "analysis/report/page/sections.hpp"

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

TEST(TableTest, html_table_escapes) {
  const TextTable table{{{"x"}}, {{"<&>"}}};

  EXPECT_THAT(html_table(table, "x"), ::testing::HasSubstr("<td>&lt;&amp;&gt;</td>"));
}

TEST(TableTest, wide_tables_wrap_their_last_column) {
  const TextTable table{
      {{"name"}, {"remark"}},
      {{"a", "one two three four five six seven"}, {"b", "no_blank_no_blank_no_blank"}}};

  EXPECT_EQ(plain_table(table, "  ", 20),
            "  name  remark\n"
            "  a     one two three four five\n"
            "        six seven\n"
            "  b     no_blank_no_blank_no_blank\n");
  EXPECT_EQ(plain_table(table, "  ", 200), plain_table(table, "  "));
}

TEST(FindingTableTest, what_a_suite_leaves_out_is_a_line_for_each_reason) {
  JobResult job;
  job.findings = {no_answer("a.first", Status::skipped, "the full suite has it"),
                  found("b.value", 3.0, 1, 7),
                  no_answer("a.second", Status::skipped, "the full suite has it"),
                  no_answer("c.other", Status::skipped, "another reason"),
                  no_answer("d.none", Status::not_present, "there is none")};
  const TextTable table = finding_table(job, {});
  ASSERT_EQ(table.rows.size(), 4u);
  EXPECT_EQ(table.rows[0][0], "b.value");
  EXPECT_EQ(table.rows[1][0], "c.other") << "one alone is named";
  EXPECT_EQ(table.rows[2][0], "d.none");
  EXPECT_EQ(table.rows[3][0], "a.first and 1 more");
  EXPECT_EQ(table.rows[3][1], "skipped");
  EXPECT_EQ(table.rows[3][5], "the full suite has it");
}

}  // namespace
}  // namespace sonde
