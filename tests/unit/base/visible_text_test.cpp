#include "base/visible_text.hpp"

#include <gtest/gtest.h>

namespace sonde {
namespace {

TEST(VisibleTextTest, valid_utf8_stays_as_it_is) {
  for (const char* text : {"", "plain", "gr\u00f6\u00dfe.h5", "\u20ac", "\U0001f600"}) {
    EXPECT_EQ(repair_utf8(text), text);
    EXPECT_EQ(visible_line(text), text);
  }
}

TEST(VisibleTextTest, bytes_that_are_no_character_are_shown_one_by_one) {
  EXPECT_EQ(repair_utf8("gr\xf6\xdf"
                        "e.h5"),
            "gr\\xf6\\xdfe.h5");
  EXPECT_EQ(repair_utf8("\xc0\xaf"), "\\xc0\\xaf");                    // overlong
  EXPECT_EQ(repair_utf8("\xe0\x80\xaf"), "\\xe0\\x80\\xaf");           // overlong
  EXPECT_EQ(repair_utf8("\xed\xa0\x80"), "\\xed\\xa0\\x80");           // a surrogate
  EXPECT_EQ(repair_utf8("\xf4\x90\x80\x80"), "\\xf4\\x90\\x80\\x80");  // beyond U+10FFFF
  EXPECT_EQ(repair_utf8("a\xe2\x82"), "a\\xe2\\x82");                  // cut off
  EXPECT_EQ(repair_utf8("\xe2(\x82"), "\\xe2(\\x82");
}

TEST(VisibleTextTest, a_line_holds_no_control_characters) {
  EXPECT_EQ(visible_line("a\x1b[31mb\nc\td\x7f"), "a\\x1b[31mb\\nc\\td\\x7f");
  EXPECT_EQ(visible_line("\xc2\x9b"
                         "31m"),
            "\\xc2\\x9b31m");  // CSI as one character
  EXPECT_EQ(repair_utf8("a\nb"), "a\nb");
}

}  // namespace
}  // namespace sonde
