// Remedies: the commands fit the trouble, exist, and are safe to paste. Xid codes: which GPU may
// still be used.
#include "analysis/fleet/remedies.hpp"

#include "base/escape.hpp"

#include <gmock/gmock.h>

#include <iterator>
#include <regex>
#include <set>
#include <sstream>

namespace sonde {
namespace {

using ::testing::AllOf;
using ::testing::AnyOf;
using ::testing::Contains;
using ::testing::Each;
using ::testing::HasSubstr;
using ::testing::IsSubsetOf;
using ::testing::Not;
using ::testing::SizeIs;
using ::testing::StartsWith;

std::vector<Trouble> all_troubles() {
  std::vector<Trouble> all;
  for (int i = 0; i <= static_cast<int>(Trouble::unknown); ++i) {
    all.push_back(static_cast<Trouble>(i));
  }
  return all;
}

/// What the pattern's first group matches, split at commas, over all remedies.
std::set<std::string> arguments_of(const std::regex& option) {
  std::set<std::string> all;
  for (const Trouble trouble : all_troubles()) {
    for (const std::string& line : remedies(trouble, "GPU-1")) {
      for (std::sregex_iterator found(line.begin(), line.end(), option), end; found != end;
           ++found) {
        std::istringstream list((*found)[1].str());
        for (std::string item; std::getline(list, item, ',');) all.insert(item);
      }
    }
  }
  return all;
}

std::vector<std::string> words_of(const std::string& text) {
  std::istringstream words(text);
  return {std::istream_iterator<std::string>(words), {}};
}

const auto changes_something = AnyOf(HasSubstr("drain"), HasSubstr("reset"), HasSubstr("replace"),
                                     HasSubstr("power it off"), HasSubstr("seat "));

TEST(RemediesTest, each_trouble_is_checked_before_anything_is_changed) {
  for (const Trouble trouble : all_troubles()) {
    const std::vector<std::string> lines = remedies(trouble, "GPU-1");
    ASSERT_THAT(lines, SizeIs(::testing::Ge(2U))) << static_cast<int>(trouble);
    EXPECT_THAT(lines.front(), AllOf(AnyOf(StartsWith("nvidia-smi "), StartsWith("dmesg ")),
                                     Not(changes_something)))
        << static_cast<int>(trouble);
  }
}

TEST(RemediesTest, a_neighbour_is_no_reason_to_touch_the_gpu) {
  const std::vector<std::string> lines = remedies(Trouble::contention, "GPU-1");

  EXPECT_THAT(lines, Contains(HasSubstr("--query-compute-apps=pid,name,used_memory")));
  EXPECT_THAT(lines, Contains("measure again on an idle GPU"));
  EXPECT_THAT(lines, Each(Not(changes_something)));
}

TEST(RemediesTest, wrong_data_and_uncorrected_errors_drain_the_node) {
  for (const Trouble trouble :
       {Trouble::wrong_data, Trouble::ecc_uncorrected, Trouble::remap_failure, Trouble::lost}) {
    EXPECT_THAT(remedies(trouble, "GPU-1"), Contains(HasSubstr("drain")));
  }
}

// Else: "Failed to parse --display/-d flags" (PCIE) or "is not a valid field to query".
TEST(RemediesTest, nvidia_smi_knows_the_sections_and_fields) {
  // nvidia-smi -h of driver 580.159.04.
  const auto sections = words_of(
      "MEMORY UTILIZATION ECC TEMPERATURE POWER CLOCK COMPUTE PIDS PERFORMANCE VOLTAGE "
      "SUPPORTED_CLOCKS PAGE_RETIREMENT ACCOUNTING ENCODER_STATS SUPPORTED_GPU_TARGET_TEMP "
      "FBC_STATS "
      "ROW_REMAPPER GSP_FIRMWARE_VERSION");
  EXPECT_THAT(arguments_of(std::regex("-d ([A-Z_,]+)")), IsSubsetOf(sections));
  // Asked of H100 and H200 with that driver.
  const auto fields = words_of(
      "index fabric.state fabric.status name vbios_version mig.mode.current ecc.mode.current "
      "memory.total gpu_recovery_action pci.bus_id pcie.link.gen.current pcie.link.gen.max "
      "pcie.link.width.current pcie.link.width.max");
  EXPECT_THAT(arguments_of(std::regex("--query-gpu=(\\S+)")), IsSubsetOf(fields));
}

TEST(RemediesTest, commands_for_a_gpu_name_it_and_nothing_else_reaches_the_shell) {
  const std::string uuid = "GPU-1'; reboot #";
  const std::string quoted = quote_shell(uuid);
  ASSERT_NE(quoted, uuid);
  for (const Trouble trouble : all_troubles()) {
    for (std::string line : remedies(trouble, uuid)) {
      const bool for_a_gpu =
          line.find(" -i ") != std::string::npos && line.find("grep -i ") == std::string::npos;
      EXPECT_FALSE(for_a_gpu && line.find(quoted) == std::string::npos) << line;
      while (line.find(quoted) != std::string::npos) line.erase(line.find(quoted), quoted.size());
      EXPECT_THAT(line, Not(HasSubstr("reboot #")));
    }
  }
  for (const Trouble trouble : {Trouble::lost, Trouble::pcie_link, Trouble::sm}) {
    EXPECT_THAT(remedies(trouble, uuid), Contains(HasSubstr(quoted)));
  }
  EXPECT_THAT(
      remedies(Trouble::sm, "GPU-1"),
      Contains(
          "dcgmi diag -r 3 -i $(nvidia-smi -i GPU-1 --query-gpu=index --format=csv,noheader)"));
}

std::vector<Severity> severities_of(const std::vector<int>& codes) {
  std::vector<Severity> severities;
  for (const int code : codes) severities.push_back(meaning_of_xid(code).severity);
  return severities;
}

TEST(XidsTest, the_severity_says_whether_the_gpu_may_be_used_before_the_remedy) {
  EXPECT_THAT(severities_of({46, 48, 54, 62, 64, 74, 79, 95, 119, 136, 140, 143, 158}),
              Each(Severity::fail));
  EXPECT_THAT(severities_of({63, 92, 94, 121, 144, 150, 154, 157}), Each(Severity::warn));
  EXPECT_THAT(severities_of({13, 31, 43, 45, 137}), Each(Severity::info));
}

TEST(XidsTest, each_row_of_the_page_is_read_whole) {
  std::istringstream page{std::string(remedy_page().front().text)};
  const std::regex row(
      R"(\| ((?:\*\*\d+\*\* [^*;|]+(?:; )?)+) \| (fail|warn|info) \| ([^|]+\.) \| [^|]+ \|)");
  const std::regex one_code(R"(\*\*(\d+)\*\* ([^*;]+))");
  std::set<int> codes;
  for (std::string line; std::getline(page, line);) {
    std::smatch parts;
    if (line.find("**") == std::string::npos) continue;
    ASSERT_TRUE(std::regex_match(line, parts, row)) << line;
    const std::string shared = parts[1];
    for (std::sregex_iterator one(shared.begin(), shared.end(), one_code), end; one != end; ++one) {
      const int code = std::stoi((*one)[1]);
      const XidMeaning meaning = meaning_of_xid(code);
      EXPECT_EQ(meaning.text, (*one)[2].str());
      EXPECT_EQ(to_text(meaning.severity), parts[2].str());
      EXPECT_EQ(meaning.remedy, parts[3].str());
      EXPECT_TRUE(codes.insert(code).second) << code << " stands there twice";
    }
  }
  EXPECT_GE(codes.size(), 55U);
}

TEST(XidsTest, an_unknown_code_is_a_warning_that_says_so) {
  for (const int code : {-1, 0, 1, 1000}) {
    const XidMeaning unknown = meaning_of_xid(code);
    EXPECT_EQ(unknown.severity, Severity::warn);
    EXPECT_THAT(std::string(unknown.text), HasSubstr("not in the table"));
    EXPECT_THAT(std::string(unknown.remedy), HasSubstr("catalogue"));
  }
}

}  // namespace
}  // namespace sonde
