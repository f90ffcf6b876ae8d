// Rows of ranks follow each other; what is small goes by way of rank 0.
#include "store/write_together.hpp"

#include "base/error.hpp"
#include "mpi/collectives.hpp"
#include "store/hdf5/flatten.hpp"
#include "store/hdf5/stored_tables.hpp"
#include "store/hdf5/table_file.hpp"
#include "store/point_file.hpp"
#include "store/run_header.hpp"
#include "store/run_reader.hpp"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <cstring>
#include <iterator>
#include <map>
#include <optional>
#include <utility>

namespace sonde {
namespace fs = std::filesystem;
namespace {

// A failed rank waits this long for the others: several times what one step takes (64 MiB a rank).
constexpr double step_patience_s = 30;

// Of one column and rank at a time: bounds what a collective compressed write holds in memory.
constexpr std::uint64_t round_bytes = 64 << 20;

/// A table of the file: the rows of this rank, and how many all have.
struct SharedTable {
  Table mine;
  std::vector<std::uint64_t> rank_rows;  // of each rank
  std::uint64_t first_row = 0;           // of this rank
  bool gathered = true;

  std::uint64_t rows() const {
    std::uint64_t all = 0;
    for (const std::uint64_t rows : rank_rows) all += rows;
    return all;
  }
  std::uint64_t row_bytes() const {
    std::uint64_t bytes = 0;
    for (const Values& values : mine.values) bytes += element_bytes(values);
    return bytes;
  }
};

/// Jobs with probes on any rank, in the order of their first appearance.
std::vector<std::string> exchange_jobs(MPI_Comm comm, const RunPart& mine) {
  std::vector<std::string> all;
  for (const std::string& text :
       gather_texts(comm, nlohmann::json(jobs_with_probes(mine.devices)).dump())) {
    for (const auto& job : nlohmann::json::parse(text).get<std::vector<std::string>>()) {
      if (std::ranges::find(all, job) == all.end()) all.push_back(job);
    }
  }
  return all;
}

/// Tells all ranks how many rows each has, and counts references from the first row of all.
std::vector<SharedTable> share(MPI_Comm comm, std::vector<Table> tables) {
  std::vector<std::uint64_t> mine;
  for (const Table& table : tables) mine.push_back(table.rows());
  std::vector<std::vector<std::uint64_t>> of_ranks;
  for (const std::string& text : gather_texts(comm, nlohmann::json(mine).dump())) {
    of_ranks.push_back(nlohmann::json::parse(text).get<std::vector<std::uint64_t>>());
  }
  std::vector<SharedTable> shared;
  std::map<TableKey, std::uint64_t> first_rows;
  for (std::size_t t = 0; t < tables.size(); ++t) {
    SharedTable& table = shared.emplace_back();
    for (const auto& rows : of_ranks) table.rank_rows.push_back(rows.at(t));
    for (int rank = 0; rank < rank_of(comm); ++rank) {
      table.first_row += table.rank_rows[static_cast<std::size_t>(rank)];
    }
    first_rows[tables[t].key] = table.first_row;
    table.mine = std::move(tables[t]);
  }
  for (SharedTable& table : shared) {
    for (std::size_t c = 0; c < table.mine.columns.size(); ++c) {
      const TableKey& counted = table.mine.columns[c].counts;
      if (!counted.group.empty()) shift(table.mine.values[c], first_rows.at(counted));
    }
  }
  return shared;
}

void choose_gathered(std::vector<SharedTable>& tables, std::uint64_t gathered_bytes) {
  std::uint64_t all_bytes = 0;
  for (const SharedTable& table : tables) all_bytes += table.rows() * table.row_bytes();
  for (SharedTable& table : tables) {
    table.gathered = all_bytes <= gathered_bytes || table.rows() <= chunk_rows;
  }
}

/// This rank's rows of the gathered tables, column after column.
std::string pack_gathered(const std::vector<SharedTable>& tables) {
  std::string all;
  for (const SharedTable& table : tables) {
    if (!table.gathered) continue;
    for (const Values& values : table.mine.values) {
      all.append(reinterpret_cast<const char*>(bytes_of(values)),
                 size_of(values) * element_bytes(values));
    }
  }
  return all;
}

/// The rows of all ranks. @param taken bytes of each rank's text that were taken before
std::vector<Values> unpack_gathered(const SharedTable& table,
                                    const std::vector<std::string>& packed,
                                    std::vector<std::size_t>& taken) {
  std::vector<Values> all;
  for (std::size_t c = 0; c < table.mine.columns.size(); ++c) {
    Values& values = all.emplace_back(empty_values(table.mine.columns[c].type));
    auto* to = static_cast<char*>(resize(values, table.rows()));
    for (std::size_t rank = 0; rank < packed.size(); ++rank) {
      const std::size_t bytes = table.rank_rows[rank] * element_bytes(values);
      require(taken[rank] + bytes <= packed[rank].size(), "a rank has fewer rows than it said");
      if (bytes > 0) std::memcpy(to, packed[rank].data() + taken[rank], bytes);
      to += bytes;
      taken[rank] += bytes;
    }
  }
  return all;
}

/// By rank 0, with what is gathered.
void create_file(const fs::path& path, const Provenance& provenance,
                 const std::vector<SharedTable>& tables, const std::vector<std::string>& packed) {
  hdf5::File file = hdf5::File::create(path);
  write_header(file, provenance);
  hdf5::make_groups(file, "jobs");
  std::vector<std::size_t> taken(packed.size(), 0);
  for (const SharedTable& table : tables) {
    create_table(file, table.mine, table.rows(), table.gathered ? Writers::one : Writers::all);
    if (!table.gathered) continue;
    const std::vector<Values> all = unpack_gathered(table, packed, taken);
    for (std::size_t c = 0; c < all.size() && table.rows() > 0; ++c) {
      write_rows(file, table.mine.key, table.mine.columns[c], 0, table.rows(), bytes_of(all[c]));
    }
  }
  file.flush(hdf5::Durability::synced);
  file.close();
}

/// All ranks write a table, in as many rounds as the one with most rows needs.
void write_shared(hid_t file, const SharedTable& table, hid_t transfer,
                  const StepRunner& run_step) {
  const std::uint64_t rows = table.mine.rows();
  for (std::size_t c = 0; c < table.mine.columns.size(); ++c) {
    const std::size_t bytes = element_bytes(table.mine.values[c]);
    const std::uint64_t round = round_bytes / bytes;
    for (std::uint64_t done = 0; done < std::ranges::max(table.rank_rows); done += round) {
      const std::uint64_t first = std::min(done, rows);
      // After a collective call all ranks must know that nobody was left behind in it.
      run_step([&] {
        write_rows(file, table.mine.key, table.mine.columns[c], table.first_row + first,
                   std::min(round, rows - first), bytes_of(table.mine.values[c]) + first * bytes,
                   transfer);
      });
    }
  }
}

/// MPI-IO may lose a failed write: nothing but the file itself tells whether it is whole.
void check_written(const StoredTables& file, const SharedTable& table) {
  const RowRange rows{table.first_row, table.mine.rows()};
  if (rows.length == 0) return;
  for (std::size_t c = 0; c < table.mine.columns.size(); ++c) {
    const ColumnSpec& column = table.mine.columns[c];
    const Values back = file.read(table.mine.key, column, rows);
    if (std::memcmp(bytes_of(back), bytes_of(table.mine.values[c]),
                    rows.length * element_bytes(back)) != 0) {
      throw StoreError(table.mine.key.group + "/" + column.name +
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

}  // namespace

void write_trial_file(MPI_Comm comm, const fs::path& path) {
  hdf5::File file = hdf5::File::create_together(path, comm);
  hdf5::write_attribute(file, "ranks", static_cast<std::uint64_t>(size_of(comm)));
  file.close();
}

void check_whole(const fs::path& path, std::uint64_t devices) {
  const RunReader reader(path);
  if (reader.device_count() != devices) {
    throw StoreError(
        fmt::format("it came out with {} of {} devices", reader.device_count(), devices));
  }
}

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

void write_together(MPI_Comm comm, const fs::path& path, const Provenance& provenance,
                    const RunPart& mine, const StepRunner& run_step, std::uint64_t gathered_bytes) {
  const std::vector<std::string> jobs = exchange_jobs(comm, mine);
  Names names;
  std::vector<Table> own;
  run_step([&] {
    own = flatten(mine.devices, mine.unaudited, jobs, names);
    for (Table& table : point_tables(provenance, names)) {
      if (rank_of(comm) != 0)
        for (Values& values : table.values) resize(values, 0);
      own.push_back(std::move(table));
    }
    std::ranges::move(name_tables(names), std::back_inserter(own));
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

}  // namespace sonde
