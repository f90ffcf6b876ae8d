// From devices along offsets and lengths to all that they own.
#include "store/part_places.hpp"

#include "base/error.hpp"
#include "store/hdf5/flatten.hpp"
#include "store/hdf5/rows.hpp"
#include "store/job_reader.hpp"

#include <algorithm>
#include <cstdint>
#include <limits>
#include <utility>

namespace sonde {
namespace {

std::vector<std::uint64_t> read_numbers(const StoredTable& stored, const ColumnSpec& column,
                                        RowRange rows) {
  return std::get<std::vector<std::uint64_t>>(unpack(stored.read(column, rows)));
}

/// Columns that say which rows of other tables a row owns.
bool owns_rows(const ColumnSpec& column) { return column.name.ends_with("_offset"); }

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

void drop_empty(Places& places) {
  std::erase_if(places, [](const auto& one) { return one.second.length == 0; });
}

}  // namespace

StoredTables find_tables(StoredFile& file, const std::vector<Table>& tables) {
  StoredTables found;
  for (const Table& table : tables) {
    StoredTable& stored = file.table(table.key);
    if (stored.rows() > 0) found.emplace(table.key, &stored);
  }
  return found;
}

Places place_devices(StoredFile& file, const StoredTables& stored, const std::vector<Table>& tables,
                     RowRange devices) {
  Places places{{keys::devices, devices}};
  for (const Table& table : tables) {
    const auto found = stored.find(table.key);
    if (found == stored.end()) continue;
    place_owned(*found->second, table, places);
    if (table.key != keys::outcomes()) continue;
    for (const auto& [job, probes] : place_probes(file, places[table.key])) {
      places[keys::probes(job)] = probes;
    }
  }
  drop_empty(places);
  return places;
}

Places place_probes_by_job(StoredFile& file, const std::vector<std::string>& jobs,
                           RowRange devices) {
  Places places{{keys::devices, devices}};
  for (const std::string& job : jobs) {
    const Table outcomes = outcome_table(job).to_table({});
    const StoredTable& stored = file.table(outcomes.key);
    if (stored.rows() == 0) continue;
    places[outcomes.key] = outcomes_of(stored, outcomes, devices);
    place_owned(stored, outcomes, places);
    places.erase(outcomes.key);
    places.erase(keys::findings(job));
    for (const Table& table : flatten_probes(job, {})) {
      if (places.contains(table.key)) place_owned(file.table(table.key), table, places);
    }
  }
  drop_empty(places);
  return places;
}

Places place_all(const StoredTables& stored) {
  Places places;
  for (const auto& [key, table] : stored) places[key] = {0, table->rows()};
  return places;
}

}  // namespace sonde
