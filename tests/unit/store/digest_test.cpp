#include "store/write_run.hpp"

#include "base/error.hpp"
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

TEST(DigestTest, what_print_does_not_show_comes_back_too) {
  const test::TemporaryFolder folder;
  Finding finding = found("tlb.l2.entries", 2048.0, 0.9, 10, 1.5);
  finding.reproducibility = 2.5;
  finding.replicates = 7;
  finding.modes = {1801, 2048};
  finding.interval = Interval{.low = 1800, .high = 2050};
  DeviceResult device;
  device.jobs = {{.job = "tlb",
                  .status = Status::ok,
                  .reason = "",
                  .elapsed_s = 1,
                  .device_s = 0.5,
                  .findings = {finding},
                  .probes = {}}};
  write_digest(folder / "GPU-1.h5", device, "hash");

  const auto back = read_digest(folder / "GPU-1.h5", "hash");

  ASSERT_TRUE(back);
  EXPECT_EQ(back->jobs[0].device_s, 0.5);
  const Finding& same = back->jobs[0].findings[0];
  EXPECT_EQ(same.reproducibility, 2.5);
  EXPECT_EQ(same.replicates, 7U);
  EXPECT_EQ(same.modes, finding.modes);
  ASSERT_TRUE(same.interval);
  EXPECT_EQ(same.interval->high, 2050);
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
  EXPECT_THROW(write_digest((folder / "missing") / "GPU-1.h5", {}, "hash"), StoreError);
}

}  // namespace
}  // namespace sonde
