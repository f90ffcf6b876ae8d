#include "store/write_run.hpp"

#include "support/random_run.hpp"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

namespace sonde {
namespace {

namespace fs = std::filesystem;

DeviceResult without_probes(DeviceResult device) {
  for (JobResult& job : device.jobs) job.probes.clear();
  for (JobResult& job : device.again) job.probes.clear();
  return device;
}

TEST(DigestTest, everything_but_the_probes_comes_back) {
  const test::TemporaryFolder folder;
  for (std::uint64_t seed = 0; seed < 20; ++seed) {
    const DeviceResult device = test::random_device(seed, 1);

    write_digest(folder / "GPU-1.h5", device, "hash");

    const auto back = read_digest(folder / "GPU-1.h5", "hash");
    ASSERT_TRUE(back) << "seed " << seed;
    EXPECT_EQ(test::print(*back), test::print(without_probes(device))) << "seed " << seed;
  }
}

TEST(DigestTest, one_that_is_missing_damaged_or_of_another_configuration_is_none) {
  const test::TemporaryFolder folder;
  const fs::path shard = folder / "GPU-1.h5";
  EXPECT_FALSE(read_digest(shard, "hash"));

  write_digest(shard, test::random_device(3, 1), "hash");
  EXPECT_FALSE(read_digest(shard, "other"));
  const fs::path file = shard.string() + ".findings";
  fs::resize_file(file, fs::file_size(file) / 2);
  EXPECT_FALSE(read_digest(shard, "hash"));

  write_digest(shard, test::random_device(3, 1), "hash");
  remove_digest(shard);
  EXPECT_FALSE(read_digest(shard, "hash"));
  write_digest((folder / "missing") / "GPU-1.h5", {}, "hash");  // the shard will do
}

}  // namespace
}  // namespace sonde
