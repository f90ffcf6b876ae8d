// What is found of a file's columns is kept as far as it was asked for, and used again.
#include "store/hdf5/stored_file.hpp"

#include "base/error.hpp"
#include "store/hdf5/rows.hpp"
#include "store/write_run.hpp"
#include "support/random_run.hpp"

#include <gtest/gtest.h>

#include <filesystem>
#include <string>

namespace sonde {
namespace {

namespace fs = std::filesystem;

class StoredFileTest : public testing::Test {
 protected:
  StoredFileTest() {
    const DeviceResult device = test::random_device(1, 0);
    write_run_alone(path_, test::some_provenance(), {}, 1,
                    [&](std::size_t) { return part_in_memory(device, {}); });
  }

  std::vector<PackedColumn> read_findings(StoredFile& file) const {
    const auto table = finding_table();
    const StoredTable& stored = file.table(table.key());
    EXPECT_GT(stored.rows(), 0U);
    return stored.read(table.columns(), {0, stored.rows()});
  }

  test::TemporaryFolder folder_;
  fs::path path_ = folder_ / "run.h5";
};

TEST_F(StoredFileTest, kept_columns_outlast_the_file) {
  StoredFile file(path_, 1 << 20);
  const std::vector<PackedColumn> before = read_findings(file);
  EXPECT_TRUE(file.keeps_all());
  file.close();
  fs::remove(path_);

  const std::vector<PackedColumn> after = read_findings(file);

  ASSERT_EQ(before.size(), after.size());
  for (std::size_t c = 0; c < before.size(); ++c) {
    EXPECT_EQ(before[c].bytes, after[c].bytes) << c;
    EXPECT_EQ(before[c].element_bytes, after[c].element_bytes) << c;
  }
}

TEST_F(StoredFileTest, what_is_not_kept_is_read_from_the_file_again) {
  StoredFile file(path_);
  const std::vector<PackedColumn> before = read_findings(file);
  EXPECT_FALSE(file.keeps_all());
  file.close();

  const std::vector<PackedColumn> after = read_findings(file);

  for (std::size_t c = 0; c < before.size(); ++c) EXPECT_EQ(before[c].bytes, after[c].bytes) << c;
  file.close();
  fs::remove(path_);
  EXPECT_THROW(read_findings(file), StoreError);
}

TEST_F(StoredFileTest, no_more_is_kept_than_was_asked_for) {
  StoredFile file(path_, 100);
  read_findings(file);
  EXPECT_FALSE(file.keeps_all());
}

TEST_F(StoredFileTest, one_that_must_stay_closed_is_not_opened) {
  StoredFile file(path_);
  read_findings(file);
  file.close();
  EXPECT_NO_THROW(read_findings(file));
  file.close();
  file.forbid_opening();
  EXPECT_THROW(read_findings(file), Error);
}

}  // namespace
}  // namespace sonde
