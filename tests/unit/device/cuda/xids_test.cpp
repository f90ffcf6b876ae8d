// Xid errors in the kernel's log.
#include "device/cuda/session/xids.hpp"

#include <gmock/gmock.h>

#include <fstream>

namespace sonde::cuda {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

constexpr const char* gpu = "00000000:18:00.0";

constexpr std::string_view log =
    "5,0,250000,-;Linux version 6.1\n"
    " SUBSYSTEM=pci\n"
    "3,812,88000000,-;NVRM: Xid (PCI:0000:18:00): 79, pid=1234, GPU has fallen off the bus.\n"
    "3,813,88000100,-;NVRM: Xid (PCI:0000:2a:00): 48, pid=1, another GPU\n"
    "3,814,88000200,-;NVRM: Xid (PCI:0000:18:00): 31, pid=99, MMU Fault\n"
    "6,815,88000300,-;a text that quotes Xid (PCI:0000:18:00): 13 without the driver's name\n";

TEST(XidsTest, those_of_the_gpu_come_in_order) {
  const XidLog found = find_xids(log, gpu);
  EXPECT_THAT(found.codes, ElementsAre(79, 31));
  EXPECT_EQ(found.begins_after_s, 0.25);
  EXPECT_EQ(found.unreadable, "");
}

TEST(XidsTest, bus_numbers_are_compared_not_texts) {
  EXPECT_THAT(find_xids(log, "0000:2A:00.0").codes, ElementsAre(48));
  EXPECT_THAT(find_xids(log, "00010000:18:00.0").codes, ElementsAre());
}

TEST(XidsTest, a_log_that_was_overwritten_says_when_it_begins) {
  EXPECT_NEAR(find_xids(log.substr(log.find("3,813")), gpu).begins_after_s, 88.0001, 1e-6);
}

TEST(XidsTest, torn_lines_are_no_errors) {
  for (const char* line :
       {"3,1,2,-;NVRM: Xid (PCI:0000:18:00)", "NVRM: Xid (PCI:0000:18:00): ",
        "3,1,2,-;NVRM: Xid (PCI:0000:18", "3,1,2,-;NVRM: Xid (PCI:0000:18:00): x",
        "3,1,2,-;NVRM: Xid (PCI:0000:18:00): 99999999999999999999", ";", "\n\n"}) {
    EXPECT_THAT(find_xids(line, gpu).codes, ElementsAre()) << line;
  }
}

TEST(XidsTest, a_gpu_without_a_place_on_the_bus_has_no_answer) {
  EXPECT_NE(find_xids(log, "").unreadable, "");
  EXPECT_NE(find_xids(log, "GPU 3").unreadable, "");
}

TEST(XidsTest, a_log_that_cannot_be_read_is_not_an_empty_one) {
  EXPECT_THAT(read_xids(gpu, "/nowhere/kmsg").unreadable, HasSubstr("cannot be opened"));
  EXPECT_THAT(read_xids(gpu, "/").unreadable, HasSubstr("cannot be read"));
  EXPECT_THAT(read_xids(gpu, "/dev/null").unreadable, HasSubstr("is empty"));
}

TEST(XidsTest, a_log_is_read_to_its_end) {
  const std::string path = testing::TempDir() + "kmsg";
  std::ofstream(path) << std::string(20000, ' ') << "\n" << log;
  EXPECT_THAT(read_xids(gpu, path).codes, ElementsAre(79, 31));
}

}  // namespace
}  // namespace sonde::cuda
