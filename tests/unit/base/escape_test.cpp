// Hostile texts in every medium.
#include "base/escape.hpp"

#include <gtest/gtest.h>

namespace sonde {
namespace {

TEST(EscapeTest, harmless_text_stays_as_it_is) {
  const std::string text = "node03 rank 2: 3.5 % slower, größer — 测试";

  EXPECT_EQ(escape_terminal(text), text);
  EXPECT_EQ(escape_csv("GPU-1a2b"), "GPU-1a2b");
  EXPECT_EQ(escape_markdown("cache.l1.size_bytes (median)"), "cache.l1.size_bytes (median)");
  EXPECT_EQ(escape_markup("größer"), "größer");
  EXPECT_EQ(escape_label("GPU-1a2b"), "GPU-1a2b");
  EXPECT_EQ(quote_shell("--exclude=node03,node07"), "--exclude=node03,node07");
}

TEST(EscapeTest, what_steers_a_terminal_is_shown) {
  EXPECT_EQ(escape_terminal("a\x1b[2Jb\n\tc\r\x7f"), "a\\x1b[2Jb\\x0a\\x09c\\x0d\\x7f");
  EXPECT_EQ(escape_terminal(std::string_view("a\0b", 3)), "a\\x00b");
  EXPECT_EQ(escape_terminal("\xc2\x9b"
                            "31m"),
            "\\x9b31m");                                        // C1: CSI
  EXPECT_EQ(escape_terminal("\xe2\x80\xaetxt"), "\\u202etxt");  // right to left
}

TEST(EscapeTest, what_is_not_utf8_is_replaced) {
  const std::string mark = "\xef\xbf\xbd";

  EXPECT_EQ(escape_terminal("a\xff"
                            "b"),
            "a" + mark + "b");
  EXPECT_EQ(escape_terminal("gr\xf6\xdf"
                            "e"),
            "gr" + mark + mark + "e");                                        // Latin-1
  EXPECT_EQ(escape_terminal("\xc0\xaf"), mark + mark);                        // overlong
  EXPECT_EQ(escape_terminal("\xed\xa0\x80"), mark + mark + mark);             // surrogate
  EXPECT_EQ(escape_terminal("\xf4\x90\x80\x80"), mark + mark + mark + mark);  // above U+10FFFF
  EXPECT_EQ(escape_terminal("cut \xe6\xb5"), "cut " + mark);
  EXPECT_EQ(escape_terminal(mark), mark);
}

TEST(EscapeTest, csv_cells_are_no_formulas_and_numbers_stay_numbers) {
  EXPECT_EQ(escape_csv("=cmd|' /C calc'!A0"), "'=cmd|' /C calc'!A0");
  EXPECT_EQ(escape_csv("@SUM(1)"), "'@SUM(1)");
  EXPECT_EQ(escape_csv("-1-1"), "'-1-1");
  EXPECT_EQ(escape_csv("\t=1"), "\\x09=1");
  EXPECT_EQ(escape_csv("=A1,\"x\""), "\"'=A1,\"\"x\"\"\"");
  EXPECT_EQ(escape_csv("-1.5e-07"), "-1.5e-07");
  EXPECT_EQ(escape_csv("2,5"), "\"2,5\"");
}

TEST(EscapeTest, markdown_gets_no_markup) {
  EXPECT_EQ(escape_markdown("a|b"), "a\\|b");
  EXPECT_EQ(escape_markdown("<script>x</script>"), "\\<script>x\\</script>");
  EXPECT_EQ(escape_markdown("[here](http://x.y)"), "\\[here\\](http:\\//x.y)");
  EXPECT_EQ(escape_markdown("www.x.y"), "www\\.x.y");
  EXPECT_EQ(escape_markdown("a\n# b"), "a\\\\x0a# b");
  EXPECT_EQ(escape_markdown("\\|"), "\\\\\\|");
  EXPECT_EQ(escape_markdown("`x` *y* &lt;"), "\\`x\\` \\*y\\* \\&lt;");
}

TEST(EscapeTest, markup_is_valid_xml) {
  EXPECT_EQ(escape_markup("<a href=\"x\">'&]]>"), "&lt;a href=&quot;x&quot;&gt;&#39;&amp;]]&gt;");
  EXPECT_EQ(escape_markup("\x01\x0b\xef\xbf\xbe"), "\\x01\\x0b\\ufffe");
}

TEST(EscapeTest, labels_end_where_they_should) {
  EXPECT_EQ(escape_label("a\"} 1\nb\\"), "a\\\"} 1\\\\x0ab\\\\");
}

TEST(EscapeTest, words_for_a_shell_are_one_word) {
  EXPECT_EQ(quote_shell(""), "\"\"");
  EXPECT_EQ(quote_shell("two words"), "\"two words\"");
  EXPECT_EQ(quote_shell("n1;reboot"), "\"n1;reboot\"");
  EXPECT_EQ(quote_shell("$(reboot)"), "'$(reboot)'");
  EXPECT_EQ(quote_shell("a'`b`"), "'a'\\''`b`'");
  EXPECT_EQ(quote_shell("a\nb"), "'a\\x0ab'");
}

TEST(EscapeTest, json_keeps_its_meaning) {
  EXPECT_EQ(escape_json_controls("{\"a\": \"\xc2\x9b größer\x7f\"}"),
            "{\"a\": \"\\u009b größer\\u007f\"}");
}

TEST(EscapeTest, bytes_that_are_no_character_are_shown_one_by_one) {
  for (const char* text : {"", "plain", "gr\u00f6\u00dfe.h5", "\ufffd", "\U0001f600"}) {
    EXPECT_EQ(repair_utf8(text), text);
    EXPECT_EQ(visible_line(text), text);
  }
  EXPECT_EQ(repair_utf8("gr\xf6\xdf"
                        "e.h5"),
            "gr\\xf6\\xdfe.h5");
  EXPECT_EQ(repair_utf8("\xe0\x80\xaf"), "\\xe0\\x80\\xaf");           // overlong
  EXPECT_EQ(repair_utf8("\xed\xa0\x80"), "\\xed\\xa0\\x80");           // a surrogate
  EXPECT_EQ(repair_utf8("\xf4\x90\x80\x80"), "\\xf4\\x90\\x80\\x80");  // beyond U+10FFFF
  EXPECT_EQ(repair_utf8("a\xe2\x82"), "a\\xe2\\x82");                  // cut off
  EXPECT_EQ(repair_utf8("\xe2(\x82"), "\\xe2(\\x82");
}

TEST(EscapeTest, a_line_holds_no_control_characters) {
  EXPECT_EQ(visible_line("a\x1b[31mb\nc\td\x7f"), "a\\x1b[31mb\\nc\\td\\x7f");
  EXPECT_EQ(visible_line("\xc2\x9b"
                         "31m"),
            "\\xc2\\x9b31m");  // CSI as one character
  EXPECT_EQ(repair_utf8("a\nb"), "a\nb");
}

}  // namespace
}  // namespace sonde
