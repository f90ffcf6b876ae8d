// Datasets, dimension scales and hyperslabs.
#include "store/hdf5/table_file.hpp"

#include "store/hdf5/column_layout.hpp"
#include "store/hdf5/dataset.hpp"
#include "store/hdf5/rows.hpp"

#include <fmt/format.h>
#include <hdf5_hl.h>
#include <zlib.h>

#include <algorithm>
#include <optional>
#include <span>
#include <utility>

namespace sonde {
namespace {

using hdf5::check;
using hdf5::Handle;

// Of one column and rank at a time: bounds what a collective compressed write holds in memory.
constexpr std::uint64_t round_bytes = 64 << 20;

/// A dimension without coordinates, in the way of netCDF-4: nothing is ever written to it.
Handle create_scale(hid_t group, const std::string& name, std::uint64_t rows) {
  Handle scale(H5Dcreate2(group, name.c_str(), H5T_STD_U8LE, make_space(rows), H5P_DEFAULT,
                          bare_layout(), H5P_DEFAULT),
               H5Dclose, "creating the dimension " + name);
  check(H5DSset_scale(scale, fmt::format("This is a netCDF dimension but not a netCDF variable."
                                         "{:>10}",
                                         rows)
                                 .c_str()),
        "making a dimension of " + name);
  return scale;
}

std::string path_of(const TableKey& key, const std::string& column) {
  return key.group + "/" + column;
}

void select_rows(hid_t space, std::uint64_t first, std::uint64_t count) {
  if (count == 0) {
    check(H5Sselect_none(space), "selecting no rows");
    return;
  }
  const hsize_t start = first;
  const hsize_t size = count;
  check(H5Sselect_hyperslab(space, H5S_SELECT_SET, &start, nullptr, &size, nullptr),
        "selecting rows");
}

/// Rows that lie one after the other in `packed`.
void write_packed(hid_t dataset, const TablePlan& table, std::size_t c, RowRange rows,
                  const std::byte* packed, hid_t transfer) {
  Handle type = file_type(table.columns[c].type, table.shapes[c].element_bytes);
  Handle target = make_space(table.rows);
  select_rows(target, rows.offset, rows.length);
  Handle source = make_space(std::max<std::uint64_t>(rows.length, 1));
  select_rows(source, 0, rows.length);
  const std::byte nothing{};
  check(H5Dwrite(dataset, type, source, target, transfer, rows.length == 0 ? &nothing : packed),
        "writing " + path_of(table.key, table.columns[c].name));
}

std::uint32_t add_to_checksum(std::uint32_t checksum, std::span<const std::byte> bytes) {
  return static_cast<std::uint32_t>(
      crc32_z(checksum, reinterpret_cast<const Bytef*>(bytes.data()), bytes.size()));
}

/// Calls `work` with the first row of each round, and the most rows of a round.
void for_each_round(const TablePlan& table, std::size_t c, std::uint64_t rows,
                    const std::function<void(std::uint64_t, std::uint64_t)>& work) {
  const std::uint64_t most =
      std::max<std::uint64_t>(1, round_bytes / table.shapes[c].element_bytes);
  for (std::uint64_t done = 0; done < rows; done += most) work(done, most);
}

/// Writes a column that was just created.
using ColumnFiller = std::function<void(std::size_t column, hid_t dataset)>;

/// Creates the table's dimension and columns; those with one value for all rows are done then.
/// `fill` is called with each of the others, if there are rows.
void create_table(hid_t file, const TablePlan& plan, const ColumnFiller& fill) {
  Handle group = hdf5::make_groups(file, plan.key.group);
  Handle scale = create_scale(group, plan.key.dimension, plan.rows);
  for (std::size_t c = 0; c < plan.columns.size(); ++c) {
    const ColumnSpec& column = plan.columns[c];
    const Handle type = file_type(column.type, plan.shapes[c].element_bytes);
    const Handle dataset(H5Dcreate2(group, column.name.c_str(), type, make_space(plan.rows),
                                    H5P_DEFAULT, column_layout(plan, c, type), H5P_DEFAULT),
                         H5Dclose, "creating " + path_of(plan.key, column.name));
    hdf5::write_attribute(dataset, "units", column.units);
    hdf5::write_attribute(dataset, "long_name", column.long_name);
    check(H5DSattach_scale(dataset, scale, 0), "attaching the dimension of " + column.name);
    if (plan.rows > 0 && plan.storage[c] != Storage::constant) fill(c, dataset);
  }
}

}  // namespace

std::string pack_gathered_columns(const FilePlan& plan, std::size_t part,
                                  const ColumnLoader& load) {
  std::string all;
  for (const TablePlan& table : plan.tables) {
    if (table.part_rows.at(part) == 0) continue;
    const RowRange rows{0, table.part_rows[part]};
    for (const std::size_t c : table.columns_of(Storage::gathered)) {
      const auto packed = plan.fit(table, c, part, load(table, c, rows)).bytes;
      all.append(reinterpret_cast<const char*>(packed.data()), packed.size());
    }
  }
  return all;
}

void create_tables(hid_t file, const FilePlan& plan, const std::vector<std::string>& gathered) {
  const ValueTable<std::string> names = name_table();
  write_tables(file, {{.key = names.key, .columns = {names.column}, .values = {plan.names}}});
  std::vector<std::size_t> taken(gathered.size(), 0);
  for (const TablePlan& table : plan.tables) {
    create_table(file, table, [&](std::size_t c, hid_t dataset) {
      if (gathered.empty() || table.storage[c] != Storage::gathered) return;
      const std::size_t element_bytes = table.shapes[c].element_bytes;
      std::string column(table.rows * element_bytes, '\0');
      for (std::size_t part = 0; part < gathered.size(); ++part) {
        const std::size_t bytes = table.part_rows.at(part) * element_bytes;
        require(taken[part] + bytes <= gathered[part].size(), "a part has fewer rows than it said");
        gathered[part].copy(column.data() + table.first_row.at(part) * element_bytes, bytes,
                            taken[part]);
        taken[part] += bytes;
      }
      write_packed(dataset, table, c, {0, table.rows},
                   reinterpret_cast<const std::byte*>(column.data()), H5P_DEFAULT);
    });
  }
}

void write_packed(hid_t file, const TablePlan& table, std::size_t column, RowRange rows,
                  const std::byte* packed) {
  const Dataset dataset = open_dataset(file, path_of(table.key, table.columns.at(column).name));
  write_packed(dataset, table, column, rows, packed, H5P_DEFAULT);
}

void write_chunk(hid_t file, const TablePlan& table, std::size_t column, std::uint64_t row,
                 const std::vector<std::uint8_t>& packed) {
  const std::string path = path_of(table.key, table.columns.at(column).name);
  const Dataset dataset = open_dataset(file, path);
  const hsize_t first = row;
  check(H5Dwrite_chunk(dataset, H5P_DEFAULT, 0, &first, packed.size(), packed.data()),
        "writing " + path);
}

std::vector<WrittenColumn> write_shared_columns(hid_t file, const FilePlan& plan,
                                                const TablePlan& table, std::size_t part,
                                                const ColumnLoader& load, hid_t transfer,
                                                const StepRunner& run_step) {
  std::vector<WrittenColumn> written;
  const std::uint64_t rows = table.part_rows.at(part);
  for (const std::size_t c : table.columns_of(Storage::shared)) {
    WrittenColumn& column = written.emplace_back(WrittenColumn{.column = c});
    // Before each collective call all ranks must know that everyone comes to it, and after it that
    // nobody was left behind in it.
    PackedColumn packed;
    std::optional<Dataset> dataset;
    run_step([&] {
      packed = plan.fit(table, c, part, load(table, c, {0, rows}));
      dataset.emplace(open_dataset(file, path_of(table.key, table.columns[c].name)));
    });
    for_each_round(table, c, table.most_rows(), [&](std::uint64_t done, std::uint64_t most) {
      run_step([&] {
        const std::uint64_t first = std::min(done, rows);
        const std::uint64_t count = std::min(most, rows - first);
        const std::size_t bytes = packed.element_bytes;
        const std::span round = std::span(packed.bytes).subspan(first * bytes, count * bytes);
        write_packed(*dataset, table, c, {table.first_row[part] + first, count}, round.data(),
                     transfer);
        column.checksum = add_to_checksum(column.checksum, round);
      });
    });
  }
  return written;
}

void check_written(StoredFile& file, const TablePlan& table, std::size_t part,
                   const std::vector<WrittenColumn>& written) {
  const std::uint64_t rows = table.part_rows.at(part);
  const StoredTable& stored = file.table(table.key);
  for (const WrittenColumn& column : written) {
    const std::size_t c = column.column;
    std::uint32_t checksum = 0;
    for_each_round(table, c, rows, [&](std::uint64_t done, std::uint64_t most) {
      const RowRange round{table.first_row[part] + done, std::min(most, rows - done)};
      checksum = add_to_checksum(checksum, stored.read(table.columns[c], round).bytes);
    });
    if (checksum != column.checksum) {
      throw StoreError(path_of(table.key, table.columns[c].name) +
                       " does not hold what was written");
    }
  }
}

void write_tables(hid_t file, const std::vector<Table>& tables) {
  for (const Table& table : tables) {
    const TablePlan plan = plan_alone(table);
    create_table(file, plan, [&](std::size_t c, hid_t dataset) {
      const PackedColumn packed =
          pack(plan.columns[c].type, table.values[c], plan.shapes[c].element_bytes, {0, plan.rows});
      write_packed(dataset, plan, c, {0, plan.rows}, packed.bytes.data(), H5P_DEFAULT);
    });
  }
}

}  // namespace sonde
