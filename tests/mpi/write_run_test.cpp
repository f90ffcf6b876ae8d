#include "store/write_run.hpp"

#include "base/error.hpp"
#include "mpi/mpi_test.hpp"
#include "store/merge.hpp"
#include "store/output.hpp"
#include "store/run_reader.hpp"
#include "store/shard.hpp"

#include <gmock/gmock.h>
#include <sys/resource.h>

#include <csignal>
#include <cstdlib>

namespace sonde {
namespace {

using test::print;
using testing::AllOf;
using testing::HasSubstr;
namespace fs = std::filesystem;

/// Ranks 2, 5, ... stand down.
bool has_device(int rank) { return rank % 3 != 2; }

/// As a rank leaves it: second tries come when it was finished already.
void write_shard(const fs::path& parts, const DeviceResult& device) {
  Shard shard = Shard::create(parts, device, test::some_provenance());
  for (const JobResult& job : device.jobs) shard.append(job);
  shard.finish(device);
  if (device.again.empty()) return;
  DeviceResult first = device;
  first.again.clear();
  Shard longer = Shard::extend(parts, first);
  for (const JobResult& job : device.again) longer.append_again(job);
  longer.finish(first);
}

class WriteRunTest : public test::MpiTest {
 protected:
  /// Writes the devices of all ranks together, each rank with a provenance of its own.
  void write_together(const std::string& name, std::uint64_t seed, int size_factor) {
    const DeviceResult device = test::random_device(seed, rank_, size_factor);
    Provenance provenance = test::some_provenance();
    if (rank_ != 0) provenance.started_utc = "later, as clocks differ";
    std::vector<UnauditedDevice> unaudited;
    if (rank_ == 0) unaudited = idle_;
    write_run_together(
        comm_, at(name), provenance,
        has_device(rank_) ? part_in_memory(device, unaudited) : part_without_device(unaudited));
  }
  RunResult expected(std::uint64_t seed, int size_factor) const {
    RunResult run{test::some_provenance(), {}, idle_};
    for (int rank = 0; rank < size_; ++rank) {
      if (has_device(rank)) run.devices.push_back(test::random_device(seed, rank, size_factor));
    }
    return run;
  }
  const std::vector<UnauditedDevice> idle_{{"node9", "GPU-idle"}};
};

TEST_F(WriteRunTest, what_ranks_write_together_comes_back_unchanged) {
  for (std::uint64_t seed = 0; seed < 3; ++seed) {
    write_together("run.h5", seed, 1);

    if (rank_ == 0) {
      const RunResult run = read_run(at("run.h5"), WithTraces::yes);
      EXPECT_EQ(print(run), print(expected(seed, 1))) << "seed " << seed;
      EXPECT_FALSE(fs::exists(at("run.h5.part")));
    }
  }
}

TEST_F(WriteRunTest, compressed_columns_come_back_unchanged) {
  write_together("run.h5", 40, 3000);

  if (rank_ == 0) {
    EXPECT_TRUE(print(read_run(at("run.h5"), WithTraces::yes)) == print(expected(40, 3000)));
  }
}

TEST_F(WriteRunTest, the_merge_of_shards_has_the_same_content) {
  write_together("together.h5", 7, 200);

  if (rank_ == 0) {
    fs::create_directory(parts_folder(at("merged.h5")));
    Roster roster{.provenance = test::some_provenance(), .devices = {}, .unaudited = idle_};
    for (const DeviceResult& device : expected(7, 200).devices) {
      write_shard(parts_folder(at("merged.h5")), device);
      roster.devices.push_back(
          {.uuid = device.info.uuid, .node = device.node, .rank = device.rank});
    }
    write_run_from_shards(at("merged.h5"), roster);
    // The file's own name and the addresses of objects differ, nothing else may.
    const auto dump_to = [&](const std::string& name) {
      return "h5dump " + at(name + ".h5").string() +
             " | sed -e 1d -e 's/DATASET [0-9]* /DATASET /' > " + at(name + ".txt").string();
    };
    const std::string command = dump_to("together") + " && " + dump_to("merged") + " && cmp " +
                                at("together.txt").string() + " " + at("merged.txt").string();
    EXPECT_EQ(std::system(command.c_str()), 0);
    EXPECT_GT(fs::file_size(at("merged.txt")), 10000U);
  }
}

TEST_F(WriteRunTest, a_disk_that_fills_on_any_rank_ends_in_the_same_error_everywhere) {
  for (const int full_rank : {0, size_ - 1}) {
    rlimit before{};
    getrlimit(RLIMIT_FSIZE, &before);
    std::signal(SIGXFSZ, SIG_IGN);
    if (rank_ == full_rank) {
      const rlimit limit{150000, before.rlim_max};
      setrlimit(RLIMIT_FSIZE, &limit);
    }
    std::string text = "no error";

    try {
      write_together("run.h5", 40, 3000);
    } catch (const StoreError& error) {
      text = error.what();
    }

    setrlimit(RLIMIT_FSIZE, &before);
    EXPECT_THAT(text, AllOf(HasSubstr("run.h5"), HasSubstr("rank "), HasSubstr("sonde merge")));
    const auto texts = gather_texts(comm_, text);
    EXPECT_EQ(texts.front(), texts.back());
    if (rank_ == 0) {
      EXPECT_FALSE(fs::exists(at("run.h5")));
      EXPECT_FALSE(fs::exists(at("run.h5.part")));
    }
  }
}

TEST_F(WriteRunTest, shards_can_be_written_together_without_reading_them_whole) {
  const DeviceResult device = test::random_device(7, rank_, 200);
  write_shard(at("").parent_path(), device);
  const PartSource part =
      has_device(rank_) ? part_of_shard(finished_shard(at("").parent_path(), device.info.uuid), {})
                        : part_without_device({});
  std::size_t steps = 0;

  write_run_together(comm_, at("run.h5"), test::some_provenance(), part, [&steps] { ++steps; });

  EXPECT_GT(steps, 5U);  // reading, making the file, writing, closing, checking, at least
  if (rank_ == 0) {
    RunResult whole = expected(7, 200);
    whole.unaudited.clear();
    EXPECT_TRUE(print(read_run(at("run.h5"), WithTraces::yes)) == print(whole));
  }
}

TEST_F(WriteRunTest, a_missing_folder_ends_in_the_same_error_everywhere) {
  EXPECT_THROW(write_together("no/run.h5", 1, 1), StoreError);
}

}  // namespace
}  // namespace sonde
