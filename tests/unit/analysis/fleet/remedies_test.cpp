// Remedies: the commands fit the trouble, exist, are safe to paste, and stand in docs/remedies.md.
#include "analysis/fleet/remedies.hpp"

#include "base/escape.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>
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

TEST(RemediesTest, nvlink_is_looked_at_by_nvlink_commands) {
  const std::vector<std::string> lines = remedies(Trouble::nvlink, "GPU-1");

  EXPECT_THAT(lines, Contains("nvidia-smi nvlink -i GPU-1 -s"));
  EXPECT_THAT(lines, Contains("nvidia-smi nvlink -i GPU-1 -e"));
  EXPECT_THAT(lines, Contains(HasSubstr("fabricmanager.log")));
  EXPECT_THAT(lines, Each(Not(HasSubstr("pcie"))));
}

// Else: "Failed to parse --display/-d flags" (PCIE) or "is not a valid field to query".
TEST(RemediesTest, nvidia_smi_knows_the_sections_and_fields) {
  // nvidia-smi -h of driver 580.159.04.
  const std::vector<std::string> sections{"MEMORY",
                                          "UTILIZATION",
                                          "ECC",
                                          "TEMPERATURE",
                                          "POWER",
                                          "CLOCK",
                                          "COMPUTE",
                                          "PIDS",
                                          "PERFORMANCE",
                                          "VOLTAGE",
                                          "SUPPORTED_CLOCKS",
                                          "PAGE_RETIREMENT",
                                          "ACCOUNTING",
                                          "ENCODER_STATS",
                                          "SUPPORTED_GPU_TARGET_TEMP",
                                          "FBC_STATS",
                                          "ROW_REMAPPER",
                                          "GSP_FIRMWARE_VERSION"};
  EXPECT_THAT(arguments_of(std::regex("-d ([A-Z_,]+)")), IsSubsetOf(sections));
  // Asked of H100 and H200 with that driver.
  const std::vector<std::string> fields{"index",
                                        "fabric.state",
                                        "fabric.status",
                                        "name",
                                        "vbios_version",
                                        "mig.mode.current",
                                        "ecc.mode.current",
                                        "memory.total",
                                        "gpu_recovery_action",
                                        "pci.bus_id",
                                        "pcie.link.gen.current",
                                        "pcie.link.gen.max",
                                        "pcie.link.width.current",
                                        "pcie.link.width.max"};
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
}

TEST(RemediesTest, the_page_for_people_has_the_same_lines_in_order) {
  std::ifstream file(SONDE_SOURCE_DIR "/docs/remedies.md");
  std::stringstream read;
  read << file.rdbuf();
  const std::string page = read.str();
  for (const Trouble trouble : all_troubles()) {
    std::string list;
    for (const std::string& line : remedies(trouble, "UUID")) list += "    " + line + "\n";
    EXPECT_THAT(page, HasSubstr("\n\n" + list + "\n"));
  }
}

}  // namespace
}  // namespace sonde
