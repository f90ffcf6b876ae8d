// What the store says when files are not what they should be, or cannot be written.
#include "base/error.hpp"
#include "base/random.hpp"
#include "store/analysis_file.hpp"
#include "store/hdf5/hdf5.hpp"
#include "store/output.hpp"
#include "store/run_reader.hpp"
#include "store/shard.hpp"
#include "support/run_file.hpp"
#include "support/thrown.hpp"

#include <gmock/gmock.h>
#include <sys/resource.h>

#include <csignal>
#include <fstream>
#include <stdexcept>

namespace sonde {
namespace {

using testing::AllOf;
using testing::HasSubstr;
namespace fs = std::filesystem;

void write_run(const fs::path& path, int size_factor = 1) {
  DeviceResult device = test::random_device(3, 0, size_factor);
  device.jobs = {test::random_job(3, "clock", size_factor)};
  test::write_run_file(path, {device, test::random_device(3, 1)});
}

/// Runs in a child whose files cannot grow beyond that size: what a full disk does, without one.
/// The child's exit status tells whether `work` gave the expected error.
template <class Work>
bool holds_on_a_full_disk(std::uint64_t size_bytes, Work&& work) {
  return test::status_of_process([&] {
           std::signal(SIGXFSZ, SIG_IGN);
           const rlimit limit{size_bytes, size_bytes};
           setrlimit(RLIMIT_FSIZE, &limit);
           return work() ? 0 : 1;
         }) == 0;
}

TEST(StoreErrorTest, what_is_no_run_file_of_this_version_is_named) {
  const test::TemporaryFolder folder;
  const fs::path path = folder / "run.h5";
  const auto refusal = [&path] {
    return test::thrown<StoreError>([&path] { read_run(path, Depth::probes); });
  };
  EXPECT_THAT(refusal(), AllOf(HasSubstr("run.h5"), HasSubstr("not there")));
  std::ofstream(path) << "hello";
  EXPECT_THAT(refusal(), AllOf(HasSubstr("run.h5"), HasSubstr("no HDF5 file")));
  hdf5::File::create(path).close();
  EXPECT_THAT(refusal(), HasSubstr("not one that sonde wrote"));
  const auto write_version = [&path](std::uint64_t version) {
    hdf5::File file = hdf5::File::create(path);
    hdf5::write_attribute(file, "sonde_schema_version", version);
    file.close();
  };
  write_version(99);
  EXPECT_THAT(refusal(), AllOf(HasSubstr("version is 99"), HasSubstr("reads version 1"),
                               HasSubstr("newer sonde")));
  write_version(0);
  EXPECT_THAT(refusal(), AllOf(HasSubstr("version is 0"), HasSubstr("older sonde")));
}

TEST(StoreErrorTest, every_truncation_is_found) {
  const test::TemporaryFolder folder;
  write_run(folder / "run.h5");
  const auto size = fs::file_size(folder / "run.h5");

  for (std::uintmax_t keep = 0; keep < size; keep += size / 40) {
    fs::copy_file(folder / "run.h5", folder / "cut.h5", fs::copy_options::overwrite_existing);
    fs::resize_file(folder / "cut.h5", keep);

    const std::string text =
        test::thrown<StoreError>([&] { read_run(folder / "cut.h5", Depth::traces); });

    EXPECT_THAT(text, HasSubstr("cut.h5")) << keep << " of " << size << " bytes";
  }
}

TEST(StoreErrorTest, full_disk_leaves_no_run_file_or_the_earlier_one_and_says_why) {
  const test::TemporaryFolder folder;

  EXPECT_TRUE(holds_on_a_full_disk(300000, [&] {
    const std::string text = test::thrown<StoreError>([&] { write_run(folder / "run.h5", 20000); });
    return text.find("run.h5") != std::string::npos &&
           text.find("File too large") != std::string::npos &&
           text.find("sonde merge") != std::string::npos;
  }));

  EXPECT_TRUE(fs::is_empty(folder.path()));

  write_run(folder / "run.h5");
  const RunResult before = read_run(folder / "run.h5", Depth::traces);
  EXPECT_TRUE(holds_on_a_full_disk(300000, [&] {
    test::thrown<StoreError>([&] { write_run(folder / "run.h5", 20000); });
    return true;
  }));
  EXPECT_EQ(test::print(read_run(folder / "run.h5", Depth::traces)), test::print(before));
}

TEST(StoreErrorTest, nothing_is_left_of_a_file_whatever_error_ends_it) {
  const test::TemporaryFolder folder;
  const auto load = [](std::size_t) -> DeviceResult { throw std::out_of_range("no such row"); };

  EXPECT_THROW(write_run_alone(folder / "run.h5", test::some_provenance(), {}, 1, load),
               std::out_of_range);
  EXPECT_TRUE(fs::is_empty(folder.path()));
}

TEST(StoreErrorTest, full_disk_during_the_analysis_keeps_the_measurements) {
  const test::TemporaryFolder folder;
  write_run(folder / "run.h5");
  const RunResult before = read_run(folder / "run.h5", Depth::traces);
  const auto size = fs::file_size(folder / "run.h5");

  for (const auto full_at : {size / 2, size + 5000}) {  // in the copy, in what is added to it
    EXPECT_TRUE(holds_on_a_full_disk(full_at, [&] {
      const std::string text = test::thrown<StoreError>([&] {
        FleetAnalysis analysis;
        analysis.verdicts.resize(before.devices.size());
        append_analysis(folder / "run.h5", before, analysis);
      });
      return text.find("untouched") != std::string::npos &&
             text.find("File too large") != std::string::npos;
    }));
  }

  EXPECT_EQ(test::print(read_run(folder / "run.h5", Depth::traces)), test::print(before));
  EXPECT_FALSE(fs::exists(folder / "run.h5.part"));
}

TEST(StoreErrorTest, full_disk_keeps_the_jobs_that_a_shard_had) {
  const test::TemporaryFolder folder;
  const DeviceResult device = test::random_device(5, 1);
  const JobResult small = test::random_job(9, "clock");
  JobResult large = test::random_job(9, "tlb");
  ProbeRecord record{"large", "chase", "{}", {}};
  record.trace.lanes.resize(1);
  Random random(1);
  for (int i = 0; i < 200000; ++i) {
    record.trace.lanes[0].window_cycles.push_back(1);
    record.trace.lanes[0].offsets_bytes.push_back(random());
  }
  large.probes.push_back(record);

  EXPECT_TRUE(holds_on_a_full_disk(600000, [&] {
    Shard shard = Shard::create(folder.path(), device, test::some_provenance());
    shard.append(small);
    const std::string text = test::thrown<StoreError>([&] { shard.append(large); });
    const std::string again = test::thrown<StoreError>([&] { shard.finish(device); });
    return text.find("File too large") != std::string::npos &&
           again.find("writing failed before") != std::string::npos;
  }));

  const RunResult back = read_run(list_shards(folder.path()).at(0), Depth::traces);
  ASSERT_EQ(back.devices.at(0).jobs.size(), 1U);
  EXPECT_EQ(test::print(back.devices[0].jobs[0]), test::print(small));
}

}  // namespace
}  // namespace sonde
