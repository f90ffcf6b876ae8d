// All ranks write large tables together, each its own rows; rank 0 collects and writes small ones.
#include "store/write_together.hpp"

#include "base/error.hpp"
#include "mpi/collectives.hpp"
#include "store/hdf5/flatten.hpp"
#include "store/hdf5/stored_tables.hpp"
#include "store/hdf5/table_file.hpp"
#include "store/output.hpp"
#include "store/points.hpp"
#include "store/run_header.hpp"
#include "store/write_run.hpp"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <cstring>
#include <map>
#include <numeric>
#include <optional>
#include <string_view>
#include <utility>

namespace sonde {
namespace fs = std::filesystem;
namespace {

// A failed rank waits this long for the others: several times the time of a step (64 MiB a rank).
constexpr double step_patience_s = 30;

// Bytes of one column and rank in one write: limits the memory of a collective compressed write.
constexpr std::uint64_t round_bytes = 64 << 20;

using StepRunner = std::function<void(const std::function<void()>&)>;

/// A table of the file: the rows of this rank, and the number of rows of all ranks.
struct SharedTable {
  Table mine;
  std::vector<std::uint64_t> rank_rows;  // number of rows of each rank
  std::uint64_t first_row = 0;           // of this rank
  bool gathered = true;                  // rank 0 writes it

  std::uint64_t rows() const {
    return std::accumulate(rank_rows.begin(), rank_rows.end(), std::uint64_t{0});
  }
  std::uint64_t bytes() const {
    std::uint64_t of_row = 0;
    for (const Column& column : mine.columns) of_row += element_bytes(column.values);
    return rows() * of_row;
  }
};

/// Returns the values of all ranks.
template <class T>
std::vector<T> gather(MPI_Comm comm, const T& mine) {
  std::vector<T> all;
  for (const std::string& text : gather_texts(comm, nlohmann::json(mine).dump())) {
    all.push_back(nlohmann::json::parse(text).get<T>());
  }
  return all;
}

/// Exchanges the numbers of rows, and shifts row references by the first row of this rank.
std::vector<SharedTable> share(MPI_Comm comm, std::vector<Table> tables) {
  std::vector<std::uint64_t> mine;
  for (const Table& table : tables) mine.push_back(table.rows());
  const auto of_ranks = gather(comm, mine);
  std::vector<SharedTable> shared;
  std::map<TableKey, std::uint64_t> first_rows;
  for (std::size_t t = 0; t < tables.size(); ++t) {
    SharedTable& table = shared.emplace_back();
    for (const auto& rows : of_ranks) table.rank_rows.push_back(rows.at(t));
    const auto own = table.rank_rows.begin() + rank_of(comm);
    table.first_row = std::accumulate(table.rank_rows.begin(), own, std::uint64_t{0});
    first_rows[tables[t].key] = table.first_row;
    table.mine = std::move(tables[t]);
  }
  for (SharedTable& table : shared) {
    for (Column& column : table.mine.columns) {
      if (!column.counts.group.empty()) shift(column.values, first_rows.at(column.counts));
    }
  }
  return shared;
}

void choose_gathered(std::vector<SharedTable>& tables, std::uint64_t gathered_bytes) {
  std::uint64_t all_bytes = 0;
  for (const SharedTable& table : tables) all_bytes += table.bytes();
  for (SharedTable& table : tables) {
    table.gathered = all_bytes <= gathered_bytes || table.rows() <= chunk_rows;
  }
}

/// This rank's rows of the gathered tables, column after column.
std::string pack_gathered(const std::vector<SharedTable>& tables) {
  std::string all;
  for (const SharedTable& table : tables) {
    if (!table.gathered) continue;
    for (const Column& column : table.mine.columns) {
      const auto bytes = bytes_of(column.values);
      all.append(reinterpret_cast<const char*>(bytes.data()), bytes.size());
    }
  }
  return all;
}

/// Joins the rows of all ranks. @param packed the rest of each rank's text; shortened by these rows
Table unpack_gathered(const SharedTable& table, std::vector<std::string_view>& packed) {
  Table all = empty_copy(table.mine);
  for (Column& column : all.columns) {
    std::byte* to = resize(column.values, table.rows()).data();
    for (std::size_t rank = 0; rank < packed.size(); ++rank) {
      const std::size_t bytes = table.rank_rows[rank] * element_bytes(column.values);
      require(bytes <= packed[rank].size(), "a rank has fewer rows than it said");
      if (bytes > 0) std::memcpy(to, packed[rank].data(), bytes);
      to += bytes;
      packed[rank].remove_prefix(bytes);
    }
  }
  return all;
}

/// Called by rank 0: writes the gathered tables and creates the others, empty.
void create_file(const fs::path& path, const Provenance& provenance,
                 const std::vector<SharedTable>& tables, const std::vector<std::string>& packed) {
  hdf5::File file = hdf5::File::create(path);
  write_header(file, provenance);
  std::vector<std::string_view> left(packed.begin(), packed.end());
  for (const SharedTable& table : tables) {
    if (table.gathered) {
      const Table whole = unpack_gathered(table, left);
      write_tables(file, {&whole, 1});
    } else {
      create_shared_table(file, table.mine, table.rows());
    }
  }
  file.flush(hdf5::Durability::synced);
  file.close();
}

/// All ranks write a table. The rank with the most rows sets the number of rounds.
void write_shared(hid_t file, const SharedTable& table, hid_t transfer,
                  const StepRunner& run_step) {
  for (const Column& column : table.mine.columns) {
    const auto values = bytes_of(column.values);
    const std::size_t bytes = element_bytes(column.values);
    const std::uint64_t round = round_bytes / bytes;
    for (std::uint64_t done = 0; done < std::ranges::max(table.rank_rows); done += round) {
      const std::uint64_t first = std::min(done, table.mine.rows());
      const auto left = values.subspan(first * bytes);
      // All ranks must learn after each collective call whether it worked on every rank.
      run_step([&] {
        write_rows(file, table.mine.key, column, table.first_row + first,
                   left.first(std::min(round * bytes, left.size())), transfer);
      });
    }
  }
}

/// Compares the rows of this rank with the file, since MPI-IO may not report a failed write.
void check_written(const StoredTables& file, const SharedTable& table) {
  const RowRange rows{table.first_row, table.mine.rows()};
  if (rows.length == 0) return;
  const Table empty = empty_copy(table.mine);
  for (std::size_t c = 0; c < empty.columns.size(); ++c) {
    const Table back = file.read({empty.key, {empty.columns[c]}}, rows);
    const auto written = bytes_of(table.mine.columns[c].values);
    if (std::memcmp(bytes_of(back.columns[0].values).data(), written.data(), written.size()) != 0) {
      throw StoreError(empty.key.group + "/" + empty.columns[c].name +
                       " does not hold what was written");
    }
  }
}

void add_shared_tables(MPI_Comm comm, const fs::path& path, const std::vector<SharedTable>& tables,
                       const StepRunner& run_step) {
  const hdf5::Handle transfer = hdf5::make_properties(H5P_DATASET_XFER);
  hdf5::check(H5Pset_dxpl_mpio(transfer, H5FD_MPIO_COLLECTIVE), "choosing collective writes");
  std::optional<hdf5::File> file;
  run_step([&] { file = hdf5::File::open_together(path, comm); });
  for (const SharedTable& table : tables) {
    if (!table.gathered) write_shared(*file, table, transfer, run_step);
  }
  run_step([&] { file->flush(); });
  run_step([&] { file->close(); });
  std::optional<hdf5::Handle> back;
  run_step([&] { back.emplace(hdf5::open_to_read(path)); });
  for (const SharedTable& table : tables) {
    if (!table.gathered) run_step([&] { check_written(StoredTables(*back), table); });
  }
  back.reset();
  run_step([&] {
    if (rank_of(comm) != 0) return;
    hdf5::File whole = hdf5::File::open_to_write(path);
    whole.flush(hdf5::Durability::synced);
    whole.close();
  });
}

/// Runs a step; before any rank goes on, all ranks learn whether all succeeded.
/// @throws StoreError on all ranks if it failed on one; CommError if a rank does not come to it
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

/// @param path the unfinished file
void write_together(MPI_Comm comm, const fs::path& path, const Provenance& provenance,
                    const RunPart& mine, const StepRunner& run_step, std::uint64_t gathered_bytes) {
  Names names;
  std::vector<Table> own;
  run_step([&] {
    own = flatten(mine.devices, mine.unaudited, names);
    for (const Table& table : point_tables(provenance, names)) {
      own.push_back(rank_of(comm) == 0 ? table : empty_copy(table));
    }
    own = with_names(std::move(own), names);
  });
  std::vector<SharedTable> tables = share(comm, std::move(own));
  choose_gathered(tables, gathered_bytes);
  const std::vector<std::string> packed = gather_texts_on(0, comm, pack_gathered(tables));
  run_step([&] {
    if (rank_of(comm) == 0) create_file(path, provenance, tables, packed);
  });
  const bool all_gathered = std::ranges::all_of(tables, &SharedTable::gathered);
  if (!all_gathered) add_shared_tables(comm, path, tables, run_step);
  run_step([&] {
    if (rank_of(comm) == 0) check_whole(path, tables.front().rows());
  });
}

}  // namespace

void write_run_together(MPI_Comm comm, const fs::path& path, const Provenance& provenance,
                        const RunPart& mine, const std::function<void()>& on_step,
                        std::uint64_t gathered_bytes) {
  prepare_store();
  const StepRunner run_step = [&](const auto& step) {
    if (on_step) on_step();
    run_step_together(comm, step);
  };
  const Provenance shared =
      roster_from_json(broadcast_text(comm, to_json(Roster{.provenance = provenance}))).provenance;
  const fs::path part = path.string() + ".part";
  try {
    write_together(comm, part, shared, mine, run_step, gathered_bytes);
    run_step([&] {
      if (rank_of(comm) == 0) move_into_place(part, path);
    });
  } catch (const StoreError& error) {
    throw StoreError(give_up_file(path, part, error));
  } catch (const CommError& error) {
    throw CommError(give_up_file(path, part, error));
  }
}

void write_trial_file(MPI_Comm comm, const fs::path& path) {
  hdf5::File file = hdf5::File::create_together(path, comm);
  hdf5::write_attribute(file, "ranks", static_cast<std::uint64_t>(size_of(comm)));
  file.close();
}

}  // namespace sonde
