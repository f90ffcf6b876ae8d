// One plan; together and alone differ only in who holds which part.
#include "store/write_run.hpp"

#include "base/error.hpp"
#include "mpi/collectives.hpp"
#include "store/hdf5/column_queue.hpp"
#include "store/hdf5/copy_chunks.hpp"
#include "store/hdf5/flatten.hpp"
#include "store/hdf5/table_file.hpp"
#include "store/output.hpp"
#include "store/run_header.hpp"
#include "store/run_reader.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <future>
#include <limits>
#include <utility>

namespace sonde {
namespace fs = std::filesystem;
namespace {

/// While all ranks write it.
fs::path part_of(const fs::path& path) { return path.string() + ".part"; }

/// While one process writes it: of another name, as a rank that was stopped when all wrote together
/// may go on at any time, and write into the one or rename it.
fs::path lone_part_of(const fs::path& path) { return path.string() + ".alone.part"; }

/// Removes what was written, and says what to do.
std::string give_up(const fs::path& path, const fs::path& part, const std::exception& error) {
  std::error_code ignored;
  fs::remove(part, ignored);
  return fmt::format(
      "cannot write '{}' ({}) free space or choose another place, then run 'sonde "
      "merge {} -o {}'",
      path.string(), error.what(), parts_folder(path).string(), path.string());
}

/// With all its tables. @param gathered as for create_tables
hdf5::File create_file(const fs::path& path, const FilePlan& plan, const Provenance& provenance,
                       const std::vector<std::string>& gathered) {
  hdf5::File file = hdf5::File::create(path);
  write_header(file, provenance, Layout::joined);
  hdf5::make_groups(file, "jobs");
  create_tables(file, plan, gathered);
  return file;
}

void finish_file(hdf5::File& file) {
  file.flush(hdf5::Durability::synced);
  file.close();
}

/// Of what was written by others, too.
void sync_file(const fs::path& path) {
  hdf5::File file = hdf5::File::open_to_write(path);
  finish_file(file);
}

/// A file that was closed without an error must also open, and hold every device.
void check_whole(const fs::path& path, std::uint64_t devices) {
  const RunReader reader(path);
  if (reader.device_count() != devices) {
    throw StoreError(
        fmt::format("it came out with {} of {} devices", reader.device_count(), devices));
  }
}

void move_into_place(const fs::path& part, const fs::path& path) {
  std::error_code error;
  fs::rename(part, path, error);
  if (error) throw StoreError(error.message());
}

std::vector<PartShape> exchange_shapes(MPI_Comm comm, const PartShape& mine) {
  std::vector<PartShape> shapes;
  for (const std::string& text : gather_texts(comm, to_json(mine))) {
    shapes.push_back(shape_from_json(text));
  }
  const std::vector<std::string> shards = gather_texts(comm, mine.shard.string());
  for (std::size_t i = 0; i < shapes.size(); ++i) shapes[i].shard = shards[i];
  return shapes;
}

// A failed rank waits this long for the others: several times what one step takes (64 MiB a rank).
constexpr double step_patience_s = 30;

/// Runs a step everywhere, then lets every rank know whether it worked everywhere.
void run_step_together(MPI_Comm comm, const std::function<void()>& step) {
  Outcome outcome = Outcome::ok;
  std::string reason;
  try {
    step();
  } catch (const std::exception& error) {
    outcome = Outcome::failed;
    reason = error.what();
  }
  std::optional<std::string> failure;
  try {
    failure = first_failure(comm, outcome, reason, step_patience_s);
  } catch (const CommError& error) {
    throw CommError(fmt::format("{}; {}", reason, error.what()));
  }
  if (failure) throw StoreError(*failure);
}

/// Rank 0 makes the file, with what is gathered, and what is copied from the shards of all ranks.
void begin_file(MPI_Comm comm, const fs::path& part_path, const FilePlan& plan,
                const Provenance& provenance, const PartSource& mine, const StepRunner& run_step) {
  const int rank = rank_of(comm);
  std::string gathered;
  run_step(
      [&] { gathered = pack_gathered_columns(plan, static_cast<std::size_t>(rank), mine.load); });
  const std::vector<std::string> all_gathered = gather_texts_on(0, comm, gathered);
  std::optional<hdf5::File> file;
  run_step([&] {
    if (rank == 0) file = create_file(part_path, plan, provenance, all_gathered);
  });
  if (plan.has(Storage::copied)) {
    for (std::size_t part = 0; part < plan.shards.size(); ++part) {
      run_step([&] {
        if (rank == 0) copy_chunks(*file, plan, part);
      });
    }
  }
  run_step([&] {
    if (rank == 0) finish_file(*file);
  });
}

/// All ranks write the columns into it that they share.
/// @returns what was written, of each table
std::vector<std::vector<WrittenColumn>> add_shared_columns(MPI_Comm comm, const fs::path& part_path,
                                                           const FilePlan& plan,
                                                           const PartSource& mine,
                                                           const StepRunner& run_step) {
  const auto rank = static_cast<std::size_t>(rank_of(comm));
  const hdf5::Handle transfer = hdf5::make_properties(H5P_DATASET_XFER);
  hdf5::check(H5Pset_dxpl_mpio(transfer, H5FD_MPIO_COLLECTIVE), "choosing collective writes");
  std::optional<hdf5::File> file;
  run_step([&] { file = hdf5::File::open_together(part_path, comm); });
  std::vector<std::vector<WrittenColumn>> written;
  for (const TablePlan& table : plan.tables) {
    written.push_back(
        write_shared_columns(*file, plan, table, rank, mine.load, transfer, run_step));
  }
  run_step([&] { file->flush(); });
  run_step([&] { file->close(); });
  return written;
}

/// MPI-IO may lose a failed write: nothing but the file itself tells whether it is whole.
void check_shared_columns(MPI_Comm comm, const fs::path& part_path, const FilePlan& plan,
                          const std::vector<std::vector<WrittenColumn>>& written,
                          const StepRunner& run_step) {
  const auto rank = static_cast<std::size_t>(rank_of(comm));
  std::optional<StoredFile> back;
  run_step([&] { back.emplace(part_path); });
  for (std::size_t i = 0; i < plan.tables.size(); ++i) {
    if (written[i].empty()) continue;
    run_step([&] { check_written(*back, plan.tables[i], rank, written[i]); });
  }
}

void write_together(MPI_Comm comm, const fs::path& part_path, const Provenance& provenance,
                    const PartSource& mine, const StepRunner& run_step,
                    std::uint64_t gathered_bytes) {
  const FilePlan plan = make_plan(exchange_shapes(comm, mine.shape), gathered_bytes);
  begin_file(comm, part_path, plan, provenance, mine, run_step);
  if (plan.has(Storage::shared)) {
    const auto written = add_shared_columns(comm, part_path, plan, mine, run_step);
    check_shared_columns(comm, part_path, plan, written, run_step);
    run_step([&] {
      if (rank_of(comm) == 0) sync_file(part_path);
    });
  }
  run_step([&] {
    if (rank_of(comm) == 0) check_whole(part_path, plan.tables.front().rows);
  });
}

// Of one column at a time: bounds what a merge of files with traces holds in memory.
constexpr std::uint64_t read_bytes = 16 << 20;

/// Each part is checked while the next is loaded.
std::vector<PartSource> load_checked(std::size_t count,
                                     const std::function<PartSource(std::size_t)>& load) {
  std::vector<PartSource> parts;
  std::future<void> checked;
  for (std::size_t i = 0; i < count; ++i) {
    parts.push_back(load(i));
    if (checked.valid()) checked.get();
    checked = std::async(std::launch::async, parts.back().check);
  }
  if (checked.valid()) checked.get();
  return parts;
}

/// Rows of a part, as the file wants them.
struct FittedRows {
  std::size_t table = 0;
  std::size_t column = 0;
  RowRange rows;  // in the file
  std::vector<std::byte> bytes;
};

/// Calls `take` with a part's rows. Sources of a merge may be from anyone: all their chunks are
/// looked into, also those that are copied.
void load_part(const FilePlan& plan, std::size_t part, const PartSource& source,
               const std::function<void(FittedRows)>& take) {
  for (std::size_t t = 0; t < plan.tables.size(); ++t) {
    const TablePlan& table = plan.tables[t];
    const std::uint64_t rows = table.part_rows[part];
    for (std::size_t c = 0; c < table.columns.size() && rows > 0; ++c) {
      if (table.storage[c] == Storage::constant) continue;
      const std::uint64_t most =
          std::max<std::uint64_t>(1, read_bytes / table.shapes[c].element_bytes);
      for (std::uint64_t done = 0; done < rows; done += most) {
        const RowRange slice{done, std::min(most, rows - done)};
        PackedColumn column = source.load(table, c, slice);
        if (table.storage[c] == Storage::copied) continue;
        take({.table = t,
              .column = c,
              .rows = {table.first_row[part] + done, slice.length},
              .bytes = plan.fit(table, c, part, std::move(column)).bytes});
      }
    }
  }
}

// All rows of a part that is loaded ahead are in memory at once. A merge of many small files saves
// the time to unpack them; a part may also be a file of 5,000 GPUs with 2 GB of rows. Those of a
// larger part are loaded when it is its turn, some of one column at a time.
constexpr std::uint64_t ahead_bytes = 64 << 20;

/// Of the rows that load_part gives.
std::uint64_t bytes_of_part(const FilePlan& plan, std::size_t part) {
  std::uint64_t bytes = 0;
  for (const TablePlan& table : plan.tables) {
    for (std::size_t c = 0; c < table.columns.size(); ++c) {
      const Storage storage = table.storage[c];
      if (storage == Storage::constant || storage == Storage::copied) continue;
      bytes += table.part_rows[part] * table.shapes[c].element_bytes;
    }
  }
  return bytes;
}

/// Puts the rows of parts into the queue, one part after the other, each given up when it is there.
/// What a small part keeps is unpacked while the rows of the one before are written.
void put_parts(ColumnQueue& queue, const FilePlan& plan, std::vector<PartSource> parts,
               const std::function<void(std::size_t part)>& on_part) {
  std::future<std::vector<FittedRows>> ahead;
  const auto put = [&queue](const FittedRows& rows) {
    queue.put(rows.table, rows.column, rows.rows, rows.bytes);
  };
  const auto load_kept = [&](std::size_t part) {
    std::vector<FittedRows> all;
    load_part(plan, part, parts[part], [&all](FittedRows rows) { all.push_back(std::move(rows)); });
    return all;
  };
  for (std::size_t i = 0; i < parts.size(); ++i) {
    auto loaded = std::exchange(ahead, {});
    const bool load_next =
        i + 1 < parts.size() && parts[i + 1].is_kept && bytes_of_part(plan, i + 1) <= ahead_bytes;
    if (load_next) ahead = std::async(std::launch::async, load_kept, i + 1);
    if (loaded.valid()) {
      for (const FittedRows& rows : loaded.get()) put(rows);
    } else {
      load_part(plan, i, parts[i], put);
    }
    parts[i] = {};
    on_part(i);
  }
}

/// The same by one process.
void write_parts(const fs::path& part_path, const Provenance& provenance,
                 std::vector<PartSource> parts) {
  std::vector<PartShape> shapes;
  for (PartSource& part : parts) shapes.push_back(std::move(part.shape));
  const FilePlan plan = make_plan(shapes, std::numeric_limits<std::uint64_t>::max());
  hdf5::File file = create_file(part_path, plan, provenance, {});
  ColumnQueue queue(file, plan);
  put_parts(queue, plan, std::move(parts), [&](std::size_t part) {
    if (plan.has(Storage::copied)) copy_chunks(file, plan, part);
  });
  queue.flush();
  finish_file(file);
  check_whole(part_path, plan.tables.front().rows);
}

}  // namespace

void write_run_together(MPI_Comm comm, const fs::path& path, const Provenance& provenance,
                        const PartSource& mine, const std::function<void()>& on_step,
                        std::uint64_t gathered_bytes) {
  prepare_store();
  const StepRunner run_step = [&](const auto& step) {
    if (on_step) on_step();
    run_step_together(comm, step);
  };
  const Provenance shared =
      roster_from_json(broadcast_text(comm, to_json(Roster{.provenance = provenance}))).provenance;
  try {
    write_together(comm, part_of(path), shared, mine, run_step, gathered_bytes);
    run_step([&] {
      if (rank_of(comm) == 0) move_into_place(part_of(path), path);
    });
  } catch (const StoreError& error) {
    throw StoreError(give_up(path, part_of(path), error));
  } catch (const CommError& error) {
    throw CommError(give_up(path, part_of(path), error));
  }
}

void write_run_from_shard(const fs::path& path, const fs::path& shard,
                          const std::vector<UnauditedDevice>& unaudited) {
  write_run_alone(path, RunReader(shard).provenance(), unaudited, 1,
                  [&](std::size_t) { return part_of_shard(shard, {}, Writer::this_run); });
}

void write_run_alone(const fs::path& path, const Provenance& provenance,
                     const std::vector<UnauditedDevice>& unaudited, std::size_t count,
                     const std::function<PartSource(std::size_t)>& load) {
  prepare_store();
  const fs::path part = lone_part_of(path);
  std::error_code none;
  fs::remove(part, none);  // an inode that nobody else has open
  try {
    std::vector<PartSource> parts = load_checked(count, load);
    // The unaudited devices are a part of their own, without a device.
    parts.push_back(part_without_device(unaudited));
    write_parts(part, provenance, std::move(parts));
    move_into_place(part, path);
  } catch (const UnreadableError&) {  // not the writing failed
    fs::remove(part, none);
    throw;
  } catch (const StoreError& error) {
    throw StoreError(give_up(path, part, error));
  } catch (...) {
    fs::remove(part, none);
    throw;
  }
}

}  // namespace sonde
