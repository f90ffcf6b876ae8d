// Xid codes: which GPU may still be used, and that docs/remedies.md says the same.
#include "analysis/fleet/xids.hpp"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>
#include <sstream>
#include <vector>

namespace sonde {
namespace {

using ::testing::Each;
using ::testing::HasSubstr;

std::vector<Severity> severities_of(const std::vector<int>& codes) {
  std::vector<Severity> severities;
  for (const int code : codes) severities.push_back(meaning_of_xid(code).severity);
  return severities;
}

std::string_view name_of(XidBlame blame) {
  switch (blame) {
    case XidBlame::gpu: return "GPU";
    case XidBlame::memory: return "memory";
    case XidBlame::link: return "link";
    case XidBlame::program: return "program";
    case XidBlame::driver: return "driver";
  }
  return "";
}

TEST(XidsTest, the_codes_that_operators_meet_are_known) {
  for (const int code :
       {8,   13,  31,  32,  38,  43,  44,  45,  46,  48,  54,  56,  57,  58,  61,  62,  63,  64,
        66,  67,  68,  69,  73,  74,  79,  92,  93,  94,  95,  109, 110, 119, 120, 121, 122, 123,
        136, 137, 140, 143, 144, 145, 146, 147, 148, 149, 150, 154, 155, 156, 157, 158}) {
    EXPECT_EQ(meaning_of_xid(code).code, code);
  }
}

TEST(XidsTest, codes_ascend_and_none_comes_twice) {
  for (std::size_t i = 1; i < all_xids().size(); ++i) {
    EXPECT_LT(all_xids()[i - 1].code, all_xids()[i].code);
  }
}

TEST(XidsTest, a_gpu_that_must_not_be_used_before_the_remedy_fails) {
  EXPECT_THAT(severities_of({46, 48, 54, 62, 64, 74, 79, 95, 119, 136, 140, 143, 158}),
              Each(Severity::fail));
}

TEST(XidsTest, a_gpu_that_works_but_needs_a_look_is_a_warning) {
  EXPECT_THAT(severities_of({63, 92, 94, 121, 144, 150, 154, 157}), Each(Severity::warn));
}

TEST(XidsTest, an_error_of_the_program_is_a_note) {
  EXPECT_THAT(severities_of({13, 31, 43, 45, 137}), Each(Severity::info));
}

TEST(XidsTest, notes_are_the_errors_of_programs_and_no_others) {
  for (const XidMeaning& xid : all_xids()) {
    EXPECT_EQ(xid.severity == Severity::info, xid.blame == XidBlame::program) << xid.code;
  }
}

TEST(XidsTest, errors_of_the_memory_and_of_links_are_named_so) {
  for (const int code : {48, 63, 64, 92, 94, 95, 140}) {
    EXPECT_EQ(meaning_of_xid(code).blame, XidBlame::memory) << code;
  }
  for (const int code : {74, 121, 136, 144, 150, 155}) {
    EXPECT_EQ(meaning_of_xid(code).blame, XidBlame::link) << code;
  }
}

TEST(XidsTest, an_unknown_code_is_a_warning_that_says_so) {
  for (const int code : {-1, 0, 1, 1000}) {
    const XidMeaning& unknown = meaning_of_xid(code);
    EXPECT_EQ(unknown.code, 0);
    EXPECT_EQ(unknown.severity, Severity::warn);
    EXPECT_THAT(std::string(unknown.text), HasSubstr("not in the table"));
    EXPECT_THAT(std::string(unknown.remedy), HasSubstr("catalogue"));
  }
}

TEST(XidsTest, a_remedy_is_one_to_three_sentences) {
  for (const XidMeaning& xid : all_xids()) {
    EXPECT_TRUE(xid.remedy.ends_with('.')) << xid.code;
    EXPECT_LE(xid.remedy.size(), 220U) << xid.code;
  }
}

TEST(XidsTest, the_page_for_people_has_the_same_rows) {
  std::ifstream file(SONDE_SOURCE_DIR "/docs/remedies.md");
  std::stringstream page;
  page << file.rdbuf();
  for (const XidMeaning& xid : all_xids()) {
    EXPECT_THAT(page.str(),
                HasSubstr(fmt::format("\n| {} | {} | {} | {} | {} |\n", xid.code, xid.text,
                                      name_of(xid.blame), to_text(xid.severity), xid.remedy)));
  }
}

}  // namespace
}  // namespace sonde
