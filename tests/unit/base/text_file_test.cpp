#include "base/text_file.hpp"

#include "base/error.hpp"
#include "support/temporary_folder.hpp"
#include "support/thrown.hpp"

#include <gmock/gmock.h>

#include <sys/stat.h>

#include <fstream>

namespace sonde {
namespace {

using ::testing::HasSubstr;
namespace fs = std::filesystem;

class TextFileTest : public ::testing::Test {
 protected:
  std::string refusal(const fs::path& path) const {
    return test::thrown<ConfigError>([&] { read_text_file(path, 8); });
  }

  const test::TemporaryFolder folder_;
};

TEST_F(TextFileTest, gives_all_of_a_file_up_to_the_bound) {
  std::ofstream(folder_ / "a") << "12345678";
  EXPECT_EQ(read_text_file(folder_ / "a", 8), "12345678");

  std::ofstream(folder_ / "b") << "123456789";
  EXPECT_THAT(refusal(folder_ / "b"), HasSubstr("longer than 8 bytes"));
}

TEST_F(TextFileTest, refuses_all_but_regular_files_without_waiting) {
  ASSERT_EQ(mkfifo((folder_ / "pipe").c_str(), 0600), 0);
  fs::create_symlink(folder_ / "loop", folder_ / "loop");

  EXPECT_THAT(refusal(folder_.path()), HasSubstr("folder"));
  EXPECT_THAT(refusal(folder_ / "pipe"), HasSubstr("no regular file"));
  EXPECT_THAT(refusal(folder_ / "loop"), HasSubstr("loop"));
  EXPECT_THAT(refusal(folder_ / std::string(300, 'x')), HasSubstr("too long"));
  EXPECT_THAT(refusal(folder_ / "absent"), HasSubstr("absent"));
}

TEST_F(TextFileTest, what_cannot_be_put_in_place_leaves_nothing_behind) {
  fs::create_directories(folder_ / "taken" / "by a folder");

  EXPECT_THROW(write_text_file(folder_ / "taken", "text"), StoreError);

  EXPECT_FALSE(fs::exists(folder_ / "taken.part"));
}

}  // namespace
}  // namespace sonde
