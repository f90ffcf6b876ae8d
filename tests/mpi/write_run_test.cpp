#include "store/write_run.hpp"
#include "store/write_together.hpp"

#include "base/error.hpp"
#include "mpi/mpi_test.hpp"
#include "store/hdf5/hdf5.hpp"
#include "store/merge.hpp"
#include "store/output.hpp"
#include "store/run_reader.hpp"
#include "store/shard.hpp"

#include <gmock/gmock.h>
#include <sys/resource.h>

#include <csignal>
#include <cstdlib>
#include <fstream>
#include <vector>

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

constexpr std::uint64_t nothing_gathered = 0;

/// A device with long recordings, each shorter than the one of the rank before.
DeviceResult long_device(int rank, std::size_t recorded, std::uint32_t most_cycles) {
  DeviceResult device = test::random_device(1, rank);
  device.again.clear();
  device.jobs = {test::random_job(1, "clock")};
  LaneTrace lane;
  lane.window_cycles.resize(recorded - static_cast<std::size_t>(rank) * 1000);
  for (std::size_t i = 0; i < lane.window_cycles.size(); ++i) {
    lane.window_cycles[i] = 1 + static_cast<std::uint32_t>(i * 7919) % most_cycles;
  }
  device.jobs[0].probes.resize(1);
  device.jobs[0].probes[0].trace.lanes = {lane, lane};
  return device;
}

/// Changes a bit in the middle of the first chunk of a column.
void damage_chunk(const fs::path& path, const std::string& column) {
  hsize_t row = 0;
  unsigned filters = 0;
  haddr_t address = 0;
  hsize_t bytes = 0;
  {
    const hdf5::Handle file = hdf5::open_to_read(path);
    const hdf5::Handle dataset(H5Dopen2(file, column.c_str(), H5P_DEFAULT), H5Dclose, "opening");
    hdf5::check(H5Dget_chunk_info_by_coord(dataset, &row, &filters, &address, &bytes), "place");
  }
  std::fstream file(path, std::ios::in | std::ios::out | std::ios::binary);
  file.seekg(static_cast<std::streamoff>(address + bytes / 2));
  const char byte = static_cast<char>(file.get() ^ 1);
  file.seekp(static_cast<std::streamoff>(address + bytes / 2));
  file.put(byte);
}

void expect_same_content(const fs::path& one, const fs::path& other) {
  EXPECT_TRUE(print(read_run(one, Depth::traces)) == print(read_run(other, Depth::traces)));
}

class WriteRunTest : public test::MpiTest {
 protected:
  /// Writes the devices of all ranks together, each rank with a provenance of its own.
  void write_together(const std::string& name, std::uint64_t seed, int size_factor,
                      std::uint64_t gathered_bytes = most_gathered_bytes) {
    const DeviceResult device = test::random_device(seed, rank_, size_factor);
    Provenance provenance = test::some_provenance();
    if (rank_ != 0) provenance.started_utc = "later, as clocks differ";
    std::vector<UnauditedDevice> unaudited;
    if (rank_ == 0) unaudited = idle_;
    RunPart part{.unaudited = unaudited};
    if (has_device(rank_)) part.devices = {device};
    write_run_together(
        comm_, at(name), provenance, part, [this] { ++steps_; }, gathered_bytes);
  }

  /// Writes each rank's shard, and the run file from them all; then rank 0 merges them alone.
  void write_shards_both_ways(const DeviceResult& device, std::uint64_t gathered_bytes) {
    if (rank_ == 0) fs::create_directory(parts_folder(at("merged.h5")));
    MPI_Barrier(comm_);
    write_shard(parts_folder(at("merged.h5")), device);
    write_run_together(comm_, at("together.h5"), test::some_provenance(),
                       {.devices = {read_own_shard(shard_of(device))}}, {}, gathered_bytes);
    Roster roster{.provenance = test::some_provenance(), .devices = {}, .unaudited = {}};
    for (const std::string& uuid : gather_texts(comm_, device.info.uuid)) {
      roster.devices.push_back(
          {.uuid = uuid, .node = "", .rank = static_cast<int>(roster.devices.size())});
    }
    if (rank_ == 0) write_run_from_shards(at("merged.h5"), roster);
  }
  fs::path shard_of(const DeviceResult& device) const {
    return finished_shard(parts_folder(at("merged.h5")), device.info.uuid);
  }
  RunResult expected(std::uint64_t seed, int size_factor) const {
    RunResult run{test::some_provenance(), {}, idle_};
    for (int rank = 0; rank < size_; ++rank) {
      if (has_device(rank)) run.devices.push_back(test::random_device(seed, rank, size_factor));
    }
    return run;
  }
  const std::vector<UnauditedDevice> idle_{{"node9", "GPU-idle"}};
  std::size_t steps_ = 0;
};

TEST_F(WriteRunTest, what_ranks_write_together_comes_back_unchanged) {
  for (const int size_factor : {1, 3000}) {  // the larger columns are compressed
    for (const std::uint64_t gathered_bytes : {nothing_gathered, most_gathered_bytes}) {
      steps_ = 0;
      write_together("run.h5", 40, size_factor, gathered_bytes);

      EXPECT_GE(steps_, 4);  // what is in it, making it, looking at it, giving it its name
      if (rank_ != 0) continue;
      const RunResult run = read_run(at("run.h5"), Depth::traces);
      EXPECT_TRUE(print(run) == print(expected(40, size_factor))) << gathered_bytes;
      EXPECT_FALSE(fs::exists(at("run.h5.part")));
    }
  }
}

TEST_F(WriteRunTest, columns_of_unequal_widths_or_lengths_come_out_the_same_both_ways) {
  struct Case {
    const char* what;
    std::size_t recorded;       // on the last rank
    std::uint32_t most_cycles;  // on the last rank
  };
  for (const Case& last : {Case{"wider", 200000, 1 << 20}, Case{"less than a chunk", 20000, 300}}) {
    const bool is_last = rank_ == size_ - 1;
    const DeviceResult device = is_last ? long_device(rank_, last.recorded, last.most_cycles)
                                        : long_device(rank_, 200000, 300);
    for (const std::uint64_t gathered_bytes : {nothing_gathered, most_gathered_bytes}) {
      write_shards_both_ways(device, gathered_bytes);

      if (rank_ == 0) expect_same_content(at("together.h5"), at("merged.h5"));
      const RunReader reader(at("together.h5"));
      const auto back = reader.read_devices({static_cast<std::uint64_t>(rank_), 1}, Depth::traces);
      EXPECT_TRUE(print(back.front()) == print(device)) << last.what << gathered_bytes;
      MPI_Barrier(comm_);
      if (rank_ == 0) fs::remove_all(parts_folder(at("merged.h5")));
      MPI_Barrier(comm_);
    }
  }
}

TEST_F(WriteRunTest, a_damaged_chunk_of_a_shard_is_noticed_where_it_is_read) {
  const DeviceResult device = long_device(rank_, 200000, 300);
  const fs::path parts = parts_folder(at("merged.h5"));
  if (rank_ == 0) fs::create_directory(parts);
  MPI_Barrier(comm_);
  write_shard(parts, device);
  damage_chunk(shard_of(device), "parts/1/traces/window_cycles");

  EXPECT_THAT([&] { read_own_shard(shard_of(device)); },
              testing::ThrowsMessage<StoreError>(HasSubstr("traces/window_cycles")));
  MPI_Barrier(comm_);
  if (rank_ != 0) return;
  EXPECT_THAT([&] { merge_runs({parts}, at("merged.h5")); },
              testing::ThrowsMessage<StoreError>(HasSubstr("traces/window_cycles")));
  EXPECT_FALSE(fs::exists(at("merged.h5")));
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
      write_together("run.h5", 40, 3000, nothing_gathered);
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

TEST_F(WriteRunTest, a_missing_folder_ends_in_the_same_error_everywhere) {
  EXPECT_THROW(write_together("no/run.h5", 1, 1), StoreError);
}

}  // namespace
}  // namespace sonde
