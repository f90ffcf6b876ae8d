#include "store/output.hpp"

#include "base/error.hpp"
#include "support/random_run.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <sys/stat.h>

#include <fstream>

namespace sonde {
namespace {

using ::testing::HasSubstr;
namespace fs = std::filesystem;

class OutputTest : public ::testing::Test {
 protected:
  std::string refusal(const fs::path& path, Existing existing = Existing::replace) const {
    try {
      check_target(path, existing);
    } catch (const Error& error) {
      return error.what();
    }
    return "accepted";
  }

  const test::TemporaryFolder folder_;
};

TEST_F(OutputTest, a_new_name_in_a_folder_is_accepted_and_nothing_stays_behind) {
  EXPECT_EQ(refusal(folder_ / "new.h5", Existing::refuse), "accepted");
  EXPECT_TRUE(fs::is_empty(folder_.path()));
}

TEST_F(OutputTest, only_regular_files_are_replaced) {
  ASSERT_EQ(mkfifo((folder_ / "pipe").c_str(), 0600), 0);
  fs::create_directory(folder_ / "inner");
  std::ofstream(folder_ / "old.h5") << "old";

  EXPECT_THAT(refusal(folder_ / "pipe"), HasSubstr("no regular file"));
  EXPECT_TRUE(fs::is_fifo(folder_ / "pipe"));
  EXPECT_THAT(refusal(folder_ / "inner"), HasSubstr("a folder"));
  EXPECT_EQ(refusal(folder_ / "old.h5"), "accepted");
  EXPECT_THAT(refusal(folder_ / "old.h5", Existing::refuse), HasSubstr("--force"));
  EXPECT_THAT(refusal(folder_ / "old.h5", Existing::resume), "accepted");
}

TEST_F(OutputTest, a_link_counts_by_what_it_leads_to_and_is_itself_in_the_way) {
  std::ofstream(folder_ / "old.h5") << "old";
  ASSERT_EQ(mkfifo((folder_ / "pipe").c_str(), 0600), 0);
  fs::create_symlink("old.h5", folder_ / "to_file");
  fs::create_symlink("pipe", folder_ / "to_pipe");
  fs::create_symlink("absent", folder_ / "to_nothing");
  fs::create_symlink("loop", folder_ / "loop");

  EXPECT_EQ(refusal(folder_ / "to_file"), "accepted");
  EXPECT_THAT(refusal(folder_ / "to_file", Existing::refuse), HasSubstr("--force"));
  EXPECT_THAT(refusal(folder_ / "to_nothing", Existing::refuse), HasSubstr("--force"));
  EXPECT_THAT(refusal(folder_ / "to_pipe"), HasSubstr("no regular file"));
  EXPECT_THAT(refusal(folder_ / "loop"), HasSubstr("loop"));
}

TEST_F(OutputTest, the_name_of_the_unfinished_file_must_be_free_for_it) {
  fs::create_directory(folder_ / "a.h5.part");
  ASSERT_EQ(mkfifo((folder_ / "b.h5.part").c_str(), 0600), 0);
  fs::create_symlink("elsewhere", folder_ / "c.h5.part");
  std::ofstream(folder_ / "d.h5.part") << "left over";

  EXPECT_THAT(refusal(folder_ / "a.h5"), HasSubstr("a.h5.part"));
  EXPECT_THAT(refusal(folder_ / "b.h5"), HasSubstr("b.h5.part"));
  EXPECT_THAT(refusal(folder_ / "c.h5"), HasSubstr("c.h5.part"));
  EXPECT_EQ(refusal(folder_ / "d.h5"), "accepted");
}

TEST_F(OutputTest, names_that_no_file_can_have_are_refused) {
  EXPECT_THAT(refusal(""), HasSubstr("names no file"));
  EXPECT_THAT(refusal(folder_ / ""), HasSubstr("names no file"));
  EXPECT_THAT(refusal(folder_ / std::string(300, 'x')), HasSubstr("too long"));
  EXPECT_THAT(refusal(folder_ / std::string(250, 'x')), HasSubstr("too long"));  // with its .part
  EXPECT_THAT(refusal(folder_ / "absent/a.h5"), HasSubstr("not there"));
}

}  // namespace
}  // namespace sonde
