// What stands under the name of an output before a run. tests/fault/output_test.sh has what is
// there refused by every command.
#include "store/output.hpp"

#include "base/error.hpp"
#include "store/shard.hpp"
#include "support/random_run.hpp"

#include <gmock/gmock.h>

#include <cstring>
#include <fstream>

namespace sonde {
namespace {

using testing::HasSubstr;
namespace fs = std::filesystem;

class OutputTest : public testing::Test {
 protected:
  test::TemporaryFolder folder_;
  fs::path out_ = folder_ / "run.h5";
  void leave_shard() {
    const DeviceResult device = test::random_device(5, 1);
    Shard::create(parts_folder(out_), device, test::some_provenance());
  }
};

TEST_F(OutputTest, a_target_is_free_or_a_file_and_what_it_is_written_by_way_of_is_no_link) {
  const auto check = [this](const char* name, Existing existing = Existing::replace) {
    check_target(folder_ / name, existing);
  };
  std::ofstream(folder_ / "old.h5") << "old";
  std::ofstream(folder_ / "a.h5.part") << "left over";
  fs::create_symlink("old.h5", folder_ / "to_file");
  fs::create_symlink("absent", folder_ / "to_nothing");
  fs::create_symlink("elsewhere", folder_ / "b.h5.part");

  EXPECT_NO_THROW(check("new.h5", Existing::refuse));
  EXPECT_FALSE(fs::exists(folder_ / "new.h5"));
  EXPECT_NO_THROW(check("old.h5", Existing::resume));
  EXPECT_NO_THROW(check("to_file"));
  for (const char* name : {"old.h5", "to_file", "to_nothing"}) {
    EXPECT_THAT([&] { check(name, Existing::refuse); },
                testing::ThrowsMessage<ConfigError>(HasSubstr("--force")));
  }
  EXPECT_NO_THROW(check("a.h5"));
  EXPECT_THROW(check("b.h5"), ConfigError);
  const std::string longest(255 - std::strlen(".alone.part"), 'x');
  EXPECT_NO_THROW(check(longest.c_str()));
  EXPECT_THROW(check((longest + 'x').c_str()), StoreError);
}

TEST_F(OutputTest, treats_an_existing_file_and_shards_of_an_earlier_run_as_asked) {
  take_output(out_, Existing::refuse, "a test");
  leave_shard();
  EXPECT_THROW(take_output(out_, Existing::refuse, "a test"), ConfigError);
  std::ofstream(out_) << "x";
  EXPECT_NO_THROW(take_output(out_, Existing::resume, "a test"));  // what it lacks is measured
  EXPECT_EQ(list_shards(parts_folder(out_)).size(), 1U);

  EXPECT_NO_THROW(take_output(out_, Existing::replace, "a test"));
  EXPECT_TRUE(list_shards(parts_folder(out_)).empty());
  EXPECT_THROW(take_output(out_, Existing::refuse, "a test"), ConfigError) << "the file is there";
}

TEST_F(OutputTest, refuses_what_another_run_holds_until_that_ends) {
  {
    const OutputLock held = take_output(out_, Existing::refuse, "n7, process 99");
    for (const Existing existing : {Existing::refuse, Existing::replace, Existing::resume}) {
      EXPECT_THAT([&] { take_output(out_, existing, "a test"); },
                  testing::ThrowsMessage<ConfigError>(HasSubstr("n7, process 99")));
    }
    leave_shard();
  }
  EXPECT_NO_THROW(take_output(out_, Existing::replace, "a test"));
}

}  // namespace
}  // namespace sonde
