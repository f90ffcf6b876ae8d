// Parts from memory and from files. A file has the tables of its part as they are: its rows count
// from 0, and so do those of a part that is a whole file.
#include "store/part_source.hpp"

#include "base/error.hpp"
#include "store/hdf5/hdf5.hpp"
#include "store/hdf5/rows.hpp"
#include "store/hdf5/stored_file.hpp"
#include "store/part_places.hpp"
#include "store/run_reader.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <map>
#include <memory>
#include <utility>

namespace sonde {
namespace {

// Devices that are looked into together before their rows are believed: what opening the tables
// takes is shared, and the rows of some hundred probes each need little memory.
constexpr std::uint64_t checked_devices = 64;
// Of each device: what it takes of a standard suite without traces, so that the columns of 10,000
// are found once and take some 600 MB.
constexpr std::uint64_t kept_bytes = 64 << 10;

/// The name that all rows have, as constant_of gives it.
void name_constant(const StoredTable& stored, const ColumnSpec& column, ColumnShape& shape) {
  if (shape.constant.empty()) return;
  shape.constant = constant_of(column.type, unpack(stored.read(column, {0, 1})));
}

/// Some rows of a table have no chunks of their own, and rows that are counted from elsewhere have
/// other numbers in the part than in the file.
TableShape shape_at(const StoredTable& stored, const Table& table, const Places& places) {
  TableShape shape = stored.read_shape(table.columns);
  const std::uint64_t rows = places.at(table.key).length;
  if (shape.rows != rows) shape.chunk_rows = 0;
  shape.rows = rows;
  for (std::size_t c = 0; c < table.columns.size(); ++c) {
    const auto counted = places.find(table.columns[c].counts);
    if (counted != places.end() && counted->second.offset > 0) {
      shape.columns[c].constant.clear();
    }
    if (table.columns[c].type == ElementType::name)
      name_constant(stored, table.columns[c], shape.columns[c]);
  }
  return shape;
}

/// Of no rows.
PackedColumn empty_column(ElementType type) {
  const Values none = empty_values(type);
  return pack(type, none, element_bytes(type, none), {0, 0});
}

/// Rows as narrow as they can be.
PackedColumn pack_rows(ElementType type, const Values& values, RowRange rows) {
  return pack(type, values, element_bytes(type, values), rows);
}

/// Columns as they lie in a file.
struct FileColumns {
  RunReader reader;
  Places places = {};

  PackedColumn load(const TablePlan& plan, std::size_t c, RowRange rows) {
    const ColumnSpec& column = plan.columns.at(c);
    const auto place = places.find(plan.key);
    if (place == places.end()) return empty_column(column.type);
    PackedColumn packed = reader.file().table(plan.key).read(
        column, {place->second.offset + rows.offset, rows.length});
    const auto counted = places.find(column.counts);
    if (counted == places.end()) return packed;
    return fit(std::move(packed), sizeof(std::uint64_t), 0 - counted->second.offset);
  }
};

/// Of the tables that have rows of the part. @param places of these
void add_shapes(StoredFile& file, const std::vector<Table>& tables, const Places& places,
                PartShape& shape) {
  for (const Table& table : tables) {
    if (!places.contains(table.key)) continue;
    add_table(shape, table.key, shape_at(file.table(table.key), table, places));
  }
}

/// Where the rows of those devices lie, and what they look like.
PartShape find_part(FileColumns& columns, const std::filesystem::path& path, RowRange devices) {
  const RunReader& reader = columns.reader;
  StoredFile& file = reader.file();
  PartShape shape{
      .jobs = reader.jobs_with_tables(), .names = *file.names(), .tables = {}, .shard = path};
  std::vector<Table> tables = flatten_findings({});
  for (const std::string& job : shape.jobs) {
    std::ranges::move(flatten_probes(job, {}), std::back_inserter(tables));
  }
  const StoredTables stored = find_tables(file, tables);
  columns.places = devices.length == reader.device_count()
                       ? place_all(stored)
                       : place_devices(file, stored, tables, devices);
  add_shapes(file, tables, columns.places, shape);
  return shape;
}

/// The same of a file with tables for each job, where probes and traces alone lie as a part has
/// them.
PartShape find_part_by_job(FileColumns& columns, const std::filesystem::path& path,
                           RowRange devices) {
  const RunReader& reader = columns.reader;
  PartShape shape{.jobs = {}, .tables = {}, .shard = path};
  columns.places = place_probes_by_job(reader.file(), reader.jobs_with_tables(), devices);
  for (const std::string& job : reader.jobs_with_tables()) {
    if (!columns.places.contains(keys::probes(job))) continue;
    shape.jobs.push_back(job);
    add_shapes(reader.file(), flatten_probes(job, {}), columns.places, shape);
  }
  return shape;
}

/// All that refers to something else.
void check_devices(const RunReader& reader, RowRange devices) {
  for (std::uint64_t done = 0; done < devices.length; done += checked_devices) {
    reader.read_devices({devices.offset + done, std::min(checked_devices, devices.length - done)},
                        WithTraces::no);
  }
}

/// Tables in memory, each with rows.
using Tables = std::map<TableKey, Table>;

/// What tables hold; else what `load` gives.
ColumnLoader load_from(Tables tables, ColumnLoader load) {
  return [tables = std::move(tables), load = std::move(load)](const TablePlan& plan, std::size_t c,
                                                              RowRange rows) {
    const auto own = tables.find(plan.key);
    return own == tables.end() ? load(plan, c, rows)
                               : pack_rows(plan.columns.at(c).type, own->second.values.at(c), rows);
  };
}

/// In the order of the file.
std::vector<Table> flatten_before_probes(const RunReader& reader, RowRange devices) {
  return flatten_findings(reader.read_devices(devices, WithTraces::no));
}

Tables with_rows(std::vector<Table> all) {
  Tables tables;
  for (Table& table : all) {
    if (table.rows() > 0) tables.emplace(table.key, std::move(table));
  }
  return tables;
}

ColumnLoader loader_of(std::shared_ptr<FileColumns> columns) {
  return [columns = std::move(columns)](const TablePlan& plan, std::size_t c, RowRange rows) {
    return columns->load(plan, c, rows);
  };
}

/// The devices are read here, which checks them, and again when their rows are wanted: a merge
/// knows the shapes of all its parts before it has the rows of one.
PartSource read_part_by_job(RunReader reader, const std::filesystem::path& path, RowRange devices) {
  const auto columns = std::make_shared<FileColumns>(FileColumns{.reader = std::move(reader)});
  PartSource part;
  part.shape = reading(path, [&] { return find_part_by_job(*columns, path, devices); });
  for (const Table& table : flatten_before_probes(columns->reader, devices)) {
    add_table(part.shape, table);
  }
  part.load = [columns, devices, load = ColumnLoader{}](const TablePlan& plan, std::size_t c,
                                                        RowRange rows) mutable {
    if (!load)
      load =
          load_from(with_rows(flatten_before_probes(columns->reader, devices)), loader_of(columns));
    return load(plan, c, rows);
  };
  columns->reader.file().close();
  return part;
}

PartSource read_part(RunReader reader, const std::filesystem::path& path, RowRange devices,
                     Writer writer) {
  if (reader.layout() != Layout::joined) {
    return read_part_by_job(std::move(reader), path, devices);
  }
  const auto columns = std::make_shared<FileColumns>(FileColumns{.reader = std::move(reader)});
  PartSource part;
  part.shape = reading(path, [&] { return find_part(*columns, path, devices); });
  part.load = loader_of(columns);
  StoredFile& file = columns->reader.file();
  if (writer == Writer::anyone) {
    if (file.keeps_all()) {
      file.forbid_opening();
      part.is_kept = true;
      part.check = [columns, devices] { check_devices(columns->reader, devices); };
    } else {
      check_devices(columns->reader, devices);
    }
  }
  file.close();
  return part;
}

PartSource from_memory(const RunPart& part) {
  PartShape shape = shape_of(part);
  Tables tables;
  for_each_table(part, shape.jobs, [&tables](const Table& table) {
    if (table.rows() > 0) tables[table.key] = table;
  });
  const auto nothing = [](const TablePlan& plan, std::size_t c, RowRange) {
    return empty_column(plan.columns.at(c).type);
  };
  return {.shape = std::move(shape), .load = load_from(std::move(tables), nothing)};
}

}  // namespace

PartSource part_in_memory(const DeviceResult& device, std::vector<UnauditedDevice> unaudited) {
  return from_memory({.devices = {&device, 1}, .unaudited = std::move(unaudited)});
}

PartSource at_point(PartSource part, std::uint64_t point_index) {
  const Table empty = device_table().to_table({});
  const auto found = std::ranges::find(empty.columns, point_column, &ColumnSpec::name);
  const auto place = static_cast<std::size_t>(found - empty.columns.begin());
  TableShape shape = part.shape.of(empty.key);
  const Values values = std::vector<std::uint64_t>(shape.rows, point_index);
  shape.columns.at(place) = {.element_bytes = element_bytes(found->type, values),
                             .constant = constant_of(found->type, values)};
  add_table(part.shape, empty.key, std::move(shape));
  part.load = [load = std::move(part.load), key = empty.key, place, values](
                  const TablePlan& plan, std::size_t c, RowRange rows) {
    return plan.key == key && c == place ? pack_rows(plan.columns[c].type, values, rows)
                                         : load(plan, c, rows);
  };
  return part;
}

PartSource part_without_device(std::vector<UnauditedDevice> unaudited) {
  return from_memory({.devices = {}, .unaudited = std::move(unaudited)});
}

PartSource part_of_file(const std::filesystem::path& path, RowRange devices) {
  return read_part(RunReader(path, kept_bytes * devices.length), path, devices, Writer::anyone);
}

PartSource part_of_shard(const std::filesystem::path& shard,
                         const std::vector<UnauditedDevice>& unaudited, Writer writer) {
  RunReader reader(shard, kept_bytes);
  if (reader.device_count() != 1) {
    throw StoreError(
        fmt::format("'{}' holds {} devices (a shard holds one) remove it and start "
                    "again with --resume",
                    shard.string(), reader.device_count()));
  }
  PartSource part = read_part(std::move(reader), shard, {0, 1}, writer);
  Table unaudited_rows = std::move(flatten_unaudited(unaudited).front());
  add_table(part.shape, unaudited_rows);
  part.load = load_from({{unaudited_rows.key, unaudited_rows}}, std::move(part.load));
  return part;
}

}  // namespace sonde
