// Columns whose values contradict each other or what they stand for.
#include "store/merge.hpp"
#include "store/output.hpp"
#include "unit/store/hostile_file.hpp"

#include <algorithm>
#include <limits>

namespace sonde {
namespace {

using hdf5::Handle;
using test::HostileFileTest;
using testing::AllOf;
using testing::HasSubstr;

TEST_F(HostileFileTest, a_merge_takes_no_rows_that_two_rows_own) {
  overwrite<std::uint64_t>("outcomes/finding_offset", H5T_NATIVE_UINT64, {0, 0});
  const std::filesystem::path merged = folder_ / "merged.h5";

  EXPECT_THAT(test::thrown<UnreadableError>([&] { merge_runs({path_}, merged); }),
              AllOf(HasSubstr("run.h5"), HasSubstr("refers to rows of another device")));
  EXPECT_FALSE(std::filesystem::exists(merged));
}

TEST_F(HostileFileTest, devices_before_a_spoiled_one_become_shards) {
  overwrite<std::uint64_t>("outcomes/finding_offset", H5T_NATIVE_UINT64, {0, 0});
  const RunReader reader(path_);
  std::filesystem::create_directories(parts_folder(path_));
  int heard = 0;

  EXPECT_THROW(extract_shards(path_, reader.provenance(), {}, [&heard] { ++heard; }), StoreError);

  EXPECT_EQ(heard, 2);
  EXPECT_EQ(list_shards(parts_folder(path_)).size(), 1u);
}

TEST_F(HostileFileTest, sums_of_offsets_do_not_wrap) {
  const auto last = std::numeric_limits<std::uint64_t>::max();
  overwrite<std::uint64_t>("outcomes/finding_offset", H5T_NATIVE_UINT64, {last, last});
  overwrite<std::uint64_t>("outcomes/finding_length", H5T_NATIVE_UINT64, {2, 2});

  EXPECT_THAT(error_of_reading(), HasSubstr("refers to rows"));
}

/// A device whose job has one lane and one finding.
class HostileLaneTest : public HostileFileTest {
 protected:
  HostileLaneTest() {
    JobResult job{.job = "clock", .reason = {}, .findings = {}, .probes = {}};
    LaneTrace& lane = job.probes.emplace_back().trace.lanes.emplace_back();
    lane.window_cycles = {30, 31, 32, 33};
    lane.offsets_bytes = {0, 64, 192};
    lane.histogram = {{5, 1}, {9, 2}};
    job.findings = {found("clock.overhead_cycles", 5.0, 1, 1)};
    job.findings[0].interval = Interval{4, 6};
    DeviceResult device = test::random_device(1, 0, 1);
    device.jobs = {job};
    device.again.clear();
    test::write_run_file(path_, {device});
  }
};

TEST_F(HostileLaneTest, bins_ascend_and_end_with_the_last_one) {
  const auto set_bins = [&](const std::vector<std::uint32_t>& bins) {
    overwrite("traces/bin_cycles", H5T_NATIVE_UINT32, bins);
  };
  set_bins({5, 2047});
  EXPECT_THAT(error_of_reading(), HasSubstr("nothing is wrong"));
  for (const auto& bins : {std::vector<std::uint32_t>{9, 5}, {5, 5}, {5, 2048}}) {
    set_bins(bins);
    EXPECT_THAT(error_of_reading(), AllOf(HasSubstr("traces"), HasSubstr("bins")));
  }
}

TEST_F(HostileLaneTest, addresses_do_not_wrap) {
  const auto set_step = [&](std::uint64_t step) {
    overwrite<std::uint64_t>("traces/visit_step_bytes", H5T_NATIVE_UINT64, {step});
  };
  set_step(std::numeric_limits<std::uint64_t>::max() / 3);
  EXPECT_THAT(error_of_reading(), HasSubstr("nothing is wrong"));
  set_step(std::numeric_limits<std::uint64_t>::max() / 3 + 1);
  EXPECT_THAT(error_of_reading(), AllOf(HasSubstr("traces"), HasSubstr("beyond all numbers")));
}

TEST_F(HostileLaneTest, what_lanes_share_is_bounded_by_what_they_recorded) {
  overwrite<std::uint32_t>("traces/window_length", H5T_NATIVE_UINT32, {2});
  EXPECT_THAT(error_of_reading(), HasSubstr("more addresses than accesses"));
  overwrite<std::uint32_t>("traces/window_length", H5T_NATIVE_UINT32, {4});
  overwrite<std::uint32_t>("traces/list_index", H5T_NATIVE_UINT32, {7});
  EXPECT_THAT(error_of_reading(), HasSubstr("fewer than are referred to"));
}

TEST_F(HostileLaneTest, each_long_window_has_its_length) {
  overwrite<std::uint16_t>("traces/window_cycles", H5T_NATIVE_UINT16, {30, 31, 32, 65535});
  EXPECT_THAT(error_of_reading(), HasSubstr("a long window has no length"));
}

TEST_F(HostileLaneTest, intervals_have_a_begin_and_then_an_end) {
  const double nan = std::numeric_limits<double>::quiet_NaN();
  for (const double low : {6.5, nan}) {
    overwrite<double>("findings/interval_low", H5T_NATIVE_DOUBLE, {low});
    EXPECT_THAT(error_of_reading(), HasSubstr("interval"));
  }
}

TEST_F(HostileFileTest, codes_out_of_range_are_refused) {
  overwrite<std::uint8_t>("devices/ecc", H5T_NATIVE_UINT8, {0, 7});

  EXPECT_THAT(error_of_reading(), HasSubstr("truth value"));
}

TEST_F(HostileFileTest, outcomes_belong_to_devices_that_are_there) {
  for (const std::uint64_t device : {0, 2}) {
    overwrite<std::uint64_t>("outcomes/device_index", H5T_NATIVE_UINT64, {0, device});
    EXPECT_THAT(error_of_reading(), AllOf(HasSubstr("outcomes"), HasSubstr("another device")));
  }
}

TEST_F(HostileFileTest, outcomes_have_probes_that_are_there_and_their_own) {
  for (const std::uint64_t probes : {0, 400, 4000}) {
    overwrite<std::uint64_t>("outcomes/probe_length", H5T_NATIVE_UINT64, {probes, probes});
    EXPECT_THAT(error_of_reading(), HasSubstr("probes"));
  }
}

TEST_F(HostileFileTest, no_rows_lie_between_those_of_a_device) {
  overwrite<std::uint64_t>("outcomes/finding_offset", H5T_NATIVE_UINT64, {0, 1 << 20});
  EXPECT_THAT(error_of_reading(), HasSubstr("rows between those of one device are not its own"));
}

TEST_F(HostileFileTest, names_are_among_those_of_the_file) {
  for (const char* column : {"outcomes/job", "outcomes/status"}) {
    overwrite<std::uint32_t>(column, H5T_NATIVE_UINT32, {60000, 60000});
    EXPECT_THAT(error_of_reading(), AllOf(HasSubstr("run.h5"), HasSubstr("name")));
  }
}

TEST_F(HostileFileTest, names_lie_within_their_bytes) {
  const std::size_t texts = StoredTables(hdf5::open_to_read(path_)).rows(names_key);
  overwrite("names/text_length", H5T_NATIVE_UINT32, std::vector<std::uint32_t>(texts, 1U << 31));
  EXPECT_THAT(error_of_reading(), HasSubstr("beyond the bytes of all names"));
}

/// A device with two jobs.
TEST_F(HostileFileTest, a_device_has_a_job_once_and_by_a_plain_name) {
  const auto write_jobs = [this](const std::string& job) {
    DeviceResult device = test::random_device(1, 0, 1);
    device.jobs = {test::random_job(1, "clock", 1), test::random_job(2, job, 1)};
    device.again.clear();
    for (JobResult& one : device.jobs) one.probes.clear();
    test::write_run_file(path_, {device});
  };
  write_jobs("shared");
  EXPECT_THAT(error_of_reading(), HasSubstr("nothing is wrong"));
  const std::uint32_t name_of_clock = row_of_name("clock");
  overwrite<std::uint32_t>("outcomes/job", H5T_NATIVE_UINT32, {name_of_clock, name_of_clock});
  EXPECT_THAT(error_of_reading(), HasSubstr("twice"));
  for (const char* name : {"\x1b[2Jx", "/.../"}) {
    write_jobs("12345");
    std::vector<std::uint8_t> bytes;
    {
      const Handle file = hdf5::open_to_read(path_);
      const StoredTables tables(file);
      const Table texts = Names().tables()[1];
      bytes = std::get<std::vector<std::uint8_t>>(
          tables.read(texts, {0, tables.rows(texts.key)}).columns[0].values);
    }
    const auto found = std::ranges::search(bytes, std::string_view("12345"));
    ASSERT_EQ(found.size(), 5U);
    std::ranges::copy(std::string_view(name), found.begin());
    overwrite("names/text_bytes", H5T_NATIVE_UINT8, bytes);
    EXPECT_THAT(error_of_reading(), HasSubstr("unusable name"));
  }
}

}  // namespace
}  // namespace sonde
