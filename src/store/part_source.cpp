// Parts from memory and from files. A file has the tables of its part as they are: its rows count
// from 0, and so do those of a part that is a whole file.
#include "store/part_source.hpp"

#include "base/error.hpp"
#include "store/hdf5/hdf5.hpp"
#include "store/hdf5/rows.hpp"
#include "store/hdf5/stored_file.hpp"
#include "store/run_reader.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <map>
#include <memory>
#include <set>
#include <utility>

namespace sonde {
namespace {

// Devices that are looked into together before their rows are believed: what opening the tables
// takes is shared, and the rows of some hundred probes each need little memory.
constexpr std::uint64_t checked_devices = 64;
// Of each device: what it takes of a standard suite without traces, so that the columns of 10,000
// are found once and take some 600 MB.
constexpr std::uint64_t kept_bytes = 64 << 10;

/// Where the rows of a part lie in each table of its file.
using Places = std::map<TableKey, RowRange>;

std::vector<std::uint64_t> read_numbers(const StoredTable& stored, const ColumnSpec& column,
                                        RowRange rows) {
  return std::get<std::vector<std::uint64_t>>(unpack(stored.read(column, rows)));
}

/// Tables of a file that may have rows, each found once.
using StoredTables = std::map<TableKey, StoredTable*>;

/// Columns that say which rows of other tables a row owns.
bool owns_rows(const ColumnSpec& column) { return column.name.ends_with("_offset"); }

/// What no row owns is not looked at: many jobs have neither probes nor, behind them, traces.
/// @param tables each behind those that own its rows
StoredTables find_tables(StoredFile& file, const std::vector<Table>& tables) {
  StoredTables found;
  std::set<TableKey> not_owned;
  for (const Table& table : tables) {
    if (!not_owned.contains(table.key)) {
      StoredTable& stored = file.table(table.key);
      if (stored.rows() > 0) found.emplace(table.key, &stored);
    }
    const auto own = found.find(table.key);
    for (std::size_t c = 0; c < table.columns.size(); ++c) {
      if (!owns_rows(table.columns[c])) continue;
      const bool owns_none =
          own == found.end() || own->second->is_all_zero(table.columns.at(c + 1));
      if (owns_none) not_owned.insert(table.columns[c].counts);
    }
  }
  return found;
}

/// Rows of other tables that these rows own: each pair of an offset and a length names some.
void place_owned(const StoredTable& stored, const Table& table, Places& places) {
  const RowRange rows = places[table.key];
  for (std::size_t c = 0; c < table.columns.size(); ++c) {
    if (!owns_rows(table.columns[c])) continue;
    const auto offsets = read_numbers(stored, table.columns[c], rows);
    const auto lengths = read_numbers(stored, table.columns.at(c + 1), rows);
    std::uint64_t begin = std::numeric_limits<std::uint64_t>::max();
    std::uint64_t end = 0;
    for (std::size_t i = 0; i < offsets.size(); ++i) {
      if (lengths[i] == 0) continue;
      begin = std::min(begin, offsets[i]);
      end = std::max(end, offsets[i] + lengths[i]);
    }
    if (end > begin) places[table.columns[c].counts] = {begin, end - begin};
  }
}

/// Outcomes lie in the order of devices.
RowRange outcomes_of(const StoredTable& stored, const Table& outcomes, RowRange devices) {
  const auto owners = read_numbers(stored, outcomes.columns.front(), {0, stored.rows()});
  if (!std::ranges::is_sorted(owners)) {
    throw StoreError(outcomes.key.group + " is not in the order of devices");
  }
  const auto begin = std::ranges::lower_bound(owners, devices.offset);
  const auto end = std::ranges::lower_bound(owners, devices.offset + devices.length);
  return {static_cast<std::uint64_t>(begin - owners.begin()),
          static_cast<std::uint64_t>(end - begin)};
}

/// Of each table that has rows of those devices.
Places place_devices(const StoredTables& stored, const std::vector<Table>& tables,
                     RowRange devices) {
  Places places{{keys::devices, devices}};
  for (const Table& table : tables) {
    const auto found = stored.find(table.key);
    if (found == stored.end()) continue;
    if (table.key.dimension == keys::outcome_dimension) {
      places[table.key] = outcomes_of(*found->second, table, devices);
    }
    place_owned(*found->second, table, places);
  }
  std::erase_if(places, [](const auto& one) { return one.second.length == 0; });
  return places;
}

/// Of all tables, with all their rows.
Places place_all(const StoredTables& stored) {
  Places places;
  for (const auto& [key, table] : stored) places[key] = {0, table->rows()};
  return places;
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

/// Where the rows of those devices lie, and what they look like.
PartShape find_part(FileColumns& columns, const std::filesystem::path& path, RowRange devices) {
  const RunReader& reader = columns.reader;
  PartShape shape{.jobs = reader.job_names(), .tables = {}, .shard = path};
  std::vector<Table> tables = flatten_device(nullptr);
  for (const std::string& job : shape.jobs) {
    std::ranges::move(flatten_job(job, nullptr, 0), std::back_inserter(tables));
  }
  const StoredTables stored = find_tables(reader.file(), tables);
  columns.places = devices.length == reader.device_count() ? place_all(stored)
                                                           : place_devices(stored, tables, devices);
  for (const Table& table : tables) {
    if (!columns.places.contains(table.key)) continue;
    add_table(shape, table.key, shape_at(*stored.at(table.key), table, columns.places));
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

PartSource read_part(RunReader reader, const std::filesystem::path& path, RowRange devices,
                     Writer writer) {
  const auto columns = std::make_shared<FileColumns>(FileColumns{.reader = std::move(reader)});
  PartSource part;
  part.shape = reading(path, [&] { return find_part(*columns, path, devices); });
  part.load = [columns](const TablePlan& plan, std::size_t c, RowRange rows) {
    return columns->load(plan, c, rows);
  };
  StoredFile& file = columns->reader.file();
  if (writer == Writer::anyone) {
    if (file.keeps_all()) {
      file.allow_opening(false);
      part.check = [columns, devices] {
        check_devices(columns->reader, devices);
        columns->reader.file().allow_opening(true);
      };
    } else {
      check_devices(columns->reader, devices);
    }
  }
  file.close();
  return part;
}

PartSource from_memory(const RunPart& part) {
  PartShape shape = shape_of(part);
  std::map<TableKey, Table> tables;
  for_each_table(part, shape.jobs, [&tables](const Table& table) {
    if (table.rows() > 0) tables[table.key] = table;
  });
  return {
      .shape = std::move(shape),
      .load = [tables = std::move(tables)](const TablePlan& plan, std::size_t c, RowRange rows) {
        const auto own = tables.find(plan.key);
        const ElementType type = plan.columns.at(c).type;
        return own == tables.end() ? empty_column(type)
                                   : pack_rows(type, own->second.values.at(c), rows);
      }};
}

}  // namespace

PartSource part_in_memory(const DeviceResult& device, std::vector<UnauditedDevice> unaudited) {
  return from_memory({.device = &device, .unaudited = std::move(unaudited)});
}

PartSource at_point(PartSource part, std::uint64_t point_index) {
  const Table empty = std::move(flatten_device(nullptr).front());
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
  return from_memory({.device = nullptr, .unaudited = std::move(unaudited)});
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
  part.load = [load = std::move(part.load), unaudited_rows = std::move(unaudited_rows)](
                  const TablePlan& plan, std::size_t c, RowRange rows) {
    return plan.key == unaudited_rows.key
               ? pack_rows(plan.columns[c].type, unaudited_rows.values.at(c), rows)
               : load(plan, c, rows);
  };
  return part;
}

}  // namespace sonde
