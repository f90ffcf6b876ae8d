// What comes out of a merge is what went in, whichever rows of whichever file it was.
#include "store/merge.hpp"
#include "base/text_file.hpp"
#include "store/output.hpp"
#include "store/run_reader.hpp"
#include "store/shard.hpp"
#include "support/run_file.hpp"

#include <gmock/gmock.h>

#include <fstream>
#include <map>
#include <set>

namespace sonde {
namespace {

namespace fs = std::filesystem;
using test::print;
using testing::AnyOf;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::Pair;
using testing::ThrowsMessage;
using testing::UnorderedElementsAre;

// Some MiB of each kind of trace, so that columns have many chunks.
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
    return write(name, devices, provenance);
  }

  fs::path write(const std::string& name, const std::vector<DeviceResult>& devices,
                 const Provenance& provenance) {
    test::write_run_file(folder_ / name, {provenance, devices, {}});
    return folder_ / name;
  }

  /// Of a sweep over an option; over the seed it has no axis.
  static Provenance sweep_over(const std::string& option, const std::vector<std::string>& values,
                               bool is_number = false) {
    Provenance its = test::some_provenance();
    its.sweep_hash = "sweep over " + option;
    its.config_hash = "all of " + values.front();
    if (option != "seed") its.axes = {{.option = option, .unit = "", .is_number = is_number}};
    for (const std::string& at : values) {
      its.points.push_back({.config_hash = at, .config_json = "{}", .seed = 1, .repeat_index = 0});
      if (option != "seed") its.points.back().at = {at};
    }
    return its;
  }

  /// The device at all points.
  static void write_sweep(const fs::path& path, const Provenance& its, DeviceResult device) {
    write_run_alone(path, its, {}, its.points.size(), [&](std::size_t i) {
      device.point_index = i;
      return device;
    });
  }

  std::vector<DeviceResult> merge(const std::vector<fs::path>& sources) {
    fs::remove(folder_ / "all.h5");
    merge_runs(sources, folder_ / "all.h5");
    return read_run(folder_ / "all.h5", Depth::traces).devices;
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

  fs::rename(folder_ / "all.h5", folder_ / "c.h5");
  expect_same(merge({folder_ / "c.h5"}), all);
}

TEST_F(MergedDevicesTest, a_device_measured_later_takes_the_place_of_the_earlier_one) {
  for (const std::size_t place : {0U, 3U}) {
    std::vector<DeviceResult> all = make_devices(3, 4);
    const fs::path a = write("a.h5", all);
    std::vector<DeviceResult> later = make_devices(4, 3);
    later[1].info.uuid = all[place].info.uuid;
    const fs::path b = write("b.h5", later, "2026-03-03T03:04:05Z");
    all[place] = later[1];
    all.push_back(later[0]);
    all.push_back(later[2]);

    expect_same(merge({a, b}), all);
    EXPECT_EQ(RunReader(folder_ / "all.h5").provenance().world_size, 8);
    fs::remove(folder_ / "all.h5");
    EXPECT_THAT(merge_runs({b, a}, folder_ / "all.h5"), ElementsAre(HasSubstr("b.h5' is used")));
  }
}

TEST_F(MergedDevicesTest, what_keeps_runs_apart_is_named_and_not_what_may_differ) {
  Provenance provenance = test::some_provenance();
  provenance.sonde_version = "1.0.0";
  provenance.sweep_hash = "standard";
  provenance.config_json = R"({"seed": 1, "repeat": 0})";
  provenance.points.clear();
  Provenance other = provenance;
  other.sonde_version = "1.1.0";
  other.config_hash = "another";
  other.sweep_hash = "quick";
  other.config_json = R"({"suite": "quick", "seed": 7, "repeat": 3})";
  const fs::path a = write("a.h5", make_devices(1, 1, 1), provenance);
  const fs::path b = write("b.h5", make_devices(2, 1, 1), other);

  EXPECT_THAT(
      [&] {
        merge_runs({a, b}, folder_ / "all.h5");
      },
      ThrowsMessage<ConfigError>(
          HasSubstr("(measured by sonde 1.1.0, not 1.0.0; --suite quick, not standard; their")));
  Provenance now = provenance;
  now.config_hash = "now";
  now.config_json = R"({"seed": 2})";
  EXPECT_THAT([&] { extract_shards(a, now, {}); },
              ThrowsMessage<ConfigError>(HasSubstr("(--seed 1, not 2; --resume")));
}

TEST_F(MergedDevicesTest, a_night_that_lost_a_device_before_its_first_job_takes_no_results_away) {
  std::vector<DeviceResult> first = make_devices(3, 1, 1);
  first[0].status = DeviceOutcome::incomplete;
  std::vector<DeviceResult> second = first;
  second[0].status = DeviceOutcome::lost;
  second[0].jobs.clear();
  second[0].again.clear();
  const fs::path a = write("a.h5", first);
  const fs::path b = write("b.h5", second, "2026-03-03T03:04:05Z");

  expect_same(merge({a, b}), first);
}

TEST_F(MergedDevicesTest, numbers_and_lists_of_them_stay_apart_in_either_order) {
  const fs::path numbers = folder_ / "a.h5";
  const fs::path lists = folder_ / "b.h5";
  const DeviceResult device = make_devices(8, 1, 1).front();
  write_sweep(numbers, sweep_over("sms", {"0", "1"}, true), device);
  write_sweep(lists, sweep_over("sms", {"20,21", "22,23"}), device);
  for (const auto& sources : {std::vector{numbers, lists}, std::vector{lists, numbers}}) {
    merge(sources);
    std::vector<std::string> settings;
    const RunReader merged(folder_ / "all.h5");
    for (const Point& point : merged.provenance().points) settings.push_back(point.at.at(0));
    EXPECT_THAT(settings, UnorderedElementsAre("0", "1", "20,21", "22,23"));
  }
}

TEST_F(MergedDevicesTest, gpus_of_a_run_that_was_stopped_are_not_lost) {
  const fs::path parts = folder_ / "run.h5.parts";
  const Provenance all = sweep_over("seed", {"1", "2", "3"});
  const std::vector<DeviceResult> two = make_devices(9, 2, 1);
  const auto measure = [&](std::size_t point, const DeviceResult& device) {
    Provenance its = all;
    its.points = {all.points[point]};
    its.config_hash = its.points.front().config_hash;
    const fs::path folder = parts / its.config_hash;
    fs::create_directories(folder);
    test::write_run_file(finished_shard(folder, device.info.uuid), {its, {device}, {}});
  };
  measure(0, two[0]);
  measure(0, two[1]);
  measure(1, two[0]);
  Roster roster{.provenance = all};
  for (const DeviceResult& device : two)
    roster.devices.push_back({.uuid = device.info.uuid, .node = "n", .rank = device.rank});
  roster.devices.push_back({.uuid = "GPU-gone", .node = "n", .rank = 2});
  write_roster(parts, roster);

  std::map<std::string, int> outcomes;
  for (const DeviceResult& device : merge({parts}))
    ++outcomes[device.info.uuid + " " + std::string(to_text(device.status))];

  EXPECT_THAT(outcomes, UnorderedElementsAre(Pair(two[0].info.uuid + " complete", 2),
                                             Pair(two[1].info.uuid + " complete", 1),
                                             Pair(two[1].info.uuid + " incomplete", 1),
                                             Pair("GPU-gone lost", 2)));
}

TEST_F(MergedDevicesTest, a_run_that_was_stopped_before_its_first_result_adds_nothing) {
  const std::vector<DeviceResult> one = make_devices(9, 1, 1);
  for (const char* option : {"seed", "memory-percent"}) {
    const Provenance stopped = sweep_over(option, {"25", "50"});
    const Provenance whole = sweep_over(option, {"75", "100"});
    const fs::path parts = folder_ / option / "a.h5.parts";
    fs::create_directories(parts);
    write_roster(parts, {.provenance = stopped,
                         .devices = {{.uuid = one[0].info.uuid, .node = "n", .rank = 0},
                                     {.uuid = "GPU-idle", .node = "n", .rank = 1}}});
    const fs::path b = folder_ / option / "b.h5";
    write_sweep(b, whole, one[0]);
    const fs::path all = folder_ / option / "all.h5";

    EXPECT_THAT(merge_runs({parts, b}, all), ElementsAre(HasSubstr("2 points of")));

    const RunResult run = read_run(all, Depth::probes);
    ASSERT_EQ(run.devices.size(), 2U) << option;
    for (const DeviceResult& device : run.devices) {
      EXPECT_EQ(device.status, DeviceOutcome::complete);
    }
    EXPECT_EQ(run.provenance.points.size(), 2U);
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
  const std::size_t step_bytes = block_bytes * (1 + whole.size() / block_bytes / 16);
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

}  // namespace
}  // namespace sonde
