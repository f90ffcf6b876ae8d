// What comes out of a merge is what went in, whichever rows of whichever file it was.
#include "store/merge.hpp"
#include "base/text_file.hpp"
#include "store/run_reader.hpp"
#include "store/shard.hpp"
#include "store/write_run.hpp"
#include "support/random_run.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>

namespace sonde {
namespace {

namespace fs = std::filesystem;
using test::print;
using testing::AnyOf;

// Some MiB of each kind of trace, so that columns have chunks to be copied, and parts that need not
// begin at one.
constexpr int size_factor = 700;

class MergedDevicesTest : public testing::Test {
 protected:
  test::TemporaryFolder folder_;

  std::vector<DeviceResult> make_devices(std::uint64_t seed, int count, int factor = size_factor) {
    std::vector<DeviceResult> devices;
    for (int rank = 0; rank < count; ++rank) {
      DeviceResult& device = devices.emplace_back(test::random_device(seed, rank, factor));
      device.info.uuid = "GPU-" + std::to_string(seed) + "-" + std::to_string(rank);
      device.status = DeviceOutcome::complete;
    }
    return devices;
  }

  fs::path write(const std::string& name, const std::vector<DeviceResult>& devices,
                 const std::string& started_utc = "2026-02-02T03:04:05Z") {
    Provenance provenance = test::some_provenance();
    provenance.started_utc = started_utc;
    write_run_alone(folder_ / name, provenance, {}, devices.size(),
                    [&](std::size_t i) { return part_in_memory(devices[i], {}); });
    return folder_ / name;
  }

  std::vector<DeviceResult> merge(const std::vector<fs::path>& sources) {
    fs::remove(folder_ / "all.h5");
    merge_runs(sources, folder_ / "all.h5");
    return read_run(folder_ / "all.h5", WithTraces::yes).devices;
  }

  static void expect_same(const std::vector<DeviceResult>& one,
                          const std::vector<DeviceResult>& other) {
    ASSERT_EQ(one.size(), other.size());
    for (std::size_t i = 0; i < one.size(); ++i) EXPECT_EQ(print(one[i]), print(other[i])) << i;
  }
};

TEST_F(MergedDevicesTest, whole_files_come_one_after_the_other) {
  std::vector<DeviceResult> all = make_devices(1, 3);
  const std::vector<DeviceResult> few = make_devices(2, 2, 1);
  const fs::path a = write("a.h5", all);
  const fs::path b = write("b.h5", few);
  all.insert(all.end(), few.begin(), few.end());

  expect_same(merge({a, b}), all);
}

TEST_F(MergedDevicesTest, a_device_measured_later_takes_the_place_of_the_earlier_one) {
  for (std::size_t place = 0; place < 4; ++place) {
    std::vector<DeviceResult> all = make_devices(3, 4);
    const fs::path a = write("a.h5", all);
    std::vector<DeviceResult> later = make_devices(4, 3);
    later[1].info.uuid = all[place].info.uuid;
    const fs::path b = write("b.h5", later, "2026-03-03T03:04:05Z");
    all[place] = later[1];
    all.push_back(later[0]);
    all.push_back(later[2]);

    expect_same(merge({a, b}), all);
  }
}

TEST_F(MergedDevicesTest, a_shard_whose_process_died_as_it_began_is_left_out) {
  const fs::path parts = folder_ / "run.h5.parts";
  fs::create_directories(parts);
  std::ofstream(parts / "GPU-9.h5.part") << "not yet a file";
  EXPECT_THROW(merge_runs({parts}, folder_ / "all.h5"), ConfigError);
  const std::vector<DeviceResult> one = make_devices(5, 1, 1);
  write("run.h5.parts/GPU-1.h5", one);

  expect_same(merge({parts}), one);

  std::ofstream(parts / "GPU-8.h5") << "whole once";
  EXPECT_THROW(merge_runs({parts}, folder_ / "all.h5"), StoreError);
}

TEST_F(MergedDevicesTest, a_shard_whose_process_died_as_it_wrote_costs_no_other) {
  const fs::path parts = folder_ / "run.h5.parts";
  fs::create_directories(parts);
  const std::vector<DeviceResult> one = make_devices(6, 1, 1);
  write("run.h5.parts/GPU-1.h5", one);
  const fs::path torn = parts / "GPU-2.h5.part";
  const DeviceResult other = make_devices(7, 1, 1).front();
  {
    Shard shard = Shard::create(parts, other, test::some_provenance());
    shard.append(other.jobs.front());
    fs::rename(finished_shard(parts, other.info.uuid).string() + ".part", torn);
  }
  const std::string whole = read_text_file(torn, 1 << 24);
  constexpr std::size_t block_bytes = 512;
  const std::size_t step_bytes = block_bytes * (1 + whole.size() / block_bytes / 64);
  std::size_t left_out = 0;
  for (std::size_t begin = 0; begin < whole.size(); begin += step_bytes) {
    std::string text = whole;
    std::fill_n(text.begin() + static_cast<std::ptrdiff_t>(begin),
                std::min(block_bytes, whole.size() - begin), '\0');
    std::ofstream(torn, std::ios::binary) << text;

    const auto devices = merge({parts});
    ASSERT_THAT(devices.size(), AnyOf(1, 2)) << begin;
    EXPECT_EQ(print(devices.front()), print(one.front())) << begin;
    left_out += devices.size() == 1 ? 1 : 0;
  }
  EXPECT_GT(left_out, 0);
}

TEST_F(MergedDevicesTest, a_merge_can_be_merged) {
  const std::vector<DeviceResult> some = make_devices(5, 2);
  merge({write("a.h5", some)});
  fs::rename(folder_ / "all.h5", folder_ / "b.h5");

  expect_same(merge({folder_ / "b.h5"}), some);
}

}  // namespace
}  // namespace sonde
