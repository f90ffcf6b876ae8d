// From the sizes of all parts to the layout of the file.
#include "store/plan.hpp"

#include "base/error.hpp"
#include "store/stored_jobs.hpp"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <cstring>
#include <set>

namespace sonde {

// The JSON library finds these by name.
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(ColumnShape, element_bytes, constant)
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(TableShape, rows, columns, chunk_rows)
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(PartShape, jobs, names, tables)

namespace {

// One chunk is the unit of compression and of reading: 256 KiB to 1 MiB is what HDF5's own chunk
// cache (1 MiB) and parallel file systems' stripes (1 MiB) handle well.
constexpr std::size_t chunk_bytes = 512 << 10;

void check_job_name(const std::string& job) {
  require(!job.empty() && job != "." && job.find('/') == std::string::npos,
          "a job's name '" + job + "' cannot name a group of the file");
}

std::string name_of(const TableKey& key) { return key.group + "/" + key.dimension; }

/// A table of the file before it has any part.
TablePlan begin_plan(const Table& table) {
  return {.key = table.key,
          .columns = table.columns,
          .shapes = std::vector<ColumnShape>(table.columns.size()),
          .first_row = {},
          .part_rows = {},
          .storage = {}};
}

/// The value of both columns, if it is the same; both may have more bytes than it needs.
std::vector<std::uint8_t> common_constant(std::vector<std::uint8_t> one,
                                          std::vector<std::uint8_t> other) {
  if (one.empty() || other.empty()) return {};
  const std::size_t bytes = std::max(one.size(), other.size());
  one.resize(bytes, 0);
  other.resize(bytes, 0);
  return one == other ? one : std::vector<std::uint8_t>{};
}

/// Rows that are counted from elsewhere have another number in each part.
void add_column(ColumnShape& all, const ColumnShape& part, ElementType type, bool is_first) {
  all.element_bytes = std::max(all.element_bytes, part.element_bytes);
  if (is_first) {
    all.constant = part.constant;
  } else {
    all.constant = type == ElementType::row ? std::vector<std::uint8_t>{}
                                            : common_constant(all.constant, part.constant);
  }
}

/// The next part, which has no place yet.
void add_part(TablePlan& plan, const TableShape& part) {
  for (std::size_t c = 0; c < plan.columns.size(); ++c) {
    if (part.rows == 0 && plan.rows > 0) continue;
    add_column(plan.shapes[c], part.columns.at(c), plan.columns[c].type, plan.rows == 0);
  }
  plan.part_rows.push_back(part.rows);
  plan.rows += part.rows;
}

/// Whether each part begins at a whole chunk, so that chunks can be copied: where that leaves fewer
/// rows to nobody than the part has. Only where all rows of a table lie in one column: another
/// would have chunks of other lengths. Columns that count rows have another number in each part.
bool begins_at_chunks(const TablePlan& plan) {
  if (plan.columns.size() != 1 || plan.columns.front().type == ElementType::row ||
      plan.columns.front().type == ElementType::text || !plan.shapes.front().constant.empty()) {
    return false;
  }
  const std::uint64_t least = chunk_rows(plan.shapes.front().element_bytes);
  return std::ranges::all_of(plan.part_rows,
                             [least](std::uint64_t rows) { return rows == 0 || rows >= least; });
}

/// One after the other.
void place_parts(TablePlan& plan) {
  const std::uint64_t step =
      begins_at_chunks(plan) ? chunk_rows(plan.shapes.front().element_bytes) : 1;
  plan.rows = 0;
  for (const std::uint64_t rows : plan.part_rows) {
    const std::uint64_t first = rows == 0 ? plan.rows : (plan.rows + step - 1) / step * step;
    plan.first_row.push_back(first);
    plan.rows = first + rows;
  }
}

/// Whether a part's chunks are those that the file is to have.
bool has_chunks_of(const TablePlan& plan, const TableShape& part) {
  const std::size_t bytes = plan.shapes.front().element_bytes;
  return part.rows == 0 ||
         (part.columns.front().element_bytes == bytes && part.chunk_rows == chunk_rows(bytes));
}

/// @param many how columns of several chunks come into the file
void choose_storage(TablePlan& plan, Storage many) {
  for (const ColumnShape& shape : plan.shapes) {
    const bool is_many = plan.rows > chunk_rows(shape.element_bytes);
    plan.storage.push_back(!shape.constant.empty() ? Storage::constant
                           : is_many               ? many
                                                   : Storage::gathered);
  }
}

std::uint64_t bytes_of(const FilePlan& plan, Storage storage) {
  std::uint64_t bytes = 0;
  for (const TablePlan& table : plan.tables) {
    for (const std::size_t c : table.columns_of(storage)) {
      bytes += table.rows * table.shapes[c].element_bytes;
    }
  }
  return bytes;
}

/// A constant of rows that are counted from elsewhere comes from one part; the row of that part is
/// known only when all tables are planned.
void shift_constants(FilePlan& plan) {
  for (TablePlan& table : plan.tables) {
    for (std::size_t c = 0; c < table.columns.size(); ++c) {
      if (table.columns[c].type != ElementType::row || table.shapes[c].constant.empty()) continue;
      std::size_t part = 0;
      while (table.part_rows.at(part) == 0) ++part;
      std::uint64_t row = 0;
      std::memcpy(&row, table.shapes[c].constant.data(), sizeof(row));
      row += plan.shift(table.columns[c], part);
      std::memcpy(table.shapes[c].constant.data(), &row, sizeof(row));
    }
  }
}

/// A name that all rows have, as the file keeps it.
void place_constant(const FilePlan& plan, std::vector<std::uint8_t>& constant) {
  const std::uint32_t place = plan.name_places.at(reinterpret_cast<const char*>(constant.data()));
  constant.resize(sizeof(place));
  std::memcpy(constant.data(), &place, sizeof(place));
}

/// Columns of names have places among those of the whole file.
void place_names(const FilePlan& plan, TablePlan& table) {
  for (std::size_t c = 0; c < table.columns.size(); ++c) {
    if (table.columns[c].type != ElementType::name) continue;
    ColumnShape& shape = table.shapes[c];
    shape.element_bytes = name_bytes(plan.names.size());
    if (shape.constant.empty()) continue;
    place_constant(plan, shape.constant);
    shape.constant.resize(shape.element_bytes);
  }
}

void join_names(const std::vector<PartShape>& parts, FilePlan& plan) {
  for (const PartShape& part : parts) {
    for (const std::string& name : part.names) {
      const auto place = static_cast<std::uint32_t>(plan.names.size());
      if (plan.name_places.try_emplace(name, place).second) plan.names.push_back(name);
    }
  }
}

std::vector<std::string> join_jobs(const std::vector<PartShape>& parts) {
  std::vector<std::string> jobs;
  for (const PartShape& part : parts) {
    for (const std::string& job : part.jobs) {
      if (std::ranges::find(jobs, job) == jobs.end()) jobs.push_back(job);
    }
  }
  return jobs;
}

}  // namespace

std::uint64_t PartShape::rows_of(const TableKey& key) const {
  const auto table = tables.find(name_of(key));
  return table == tables.end() ? 0 : table->second.rows;
}

TableShape PartShape::of(const TableKey& key) const {
  const auto table = tables.find(name_of(key));
  return table == tables.end() ? TableShape{} : table->second;
}

TableShape shape_of(const Table& table) {
  TableShape shape{.rows = table.rows(), .columns = {}};
  for (std::size_t c = 0; c < table.columns.size(); ++c) {
    const ElementType type = table.columns[c].type;
    shape.columns.push_back({.element_bytes = element_bytes(type, table.values[c]),
                             .constant = constant_of(type, table.values[c])});
  }
  return shape;
}

TablePlan plan_alone(const Table& table) {
  TablePlan plan = begin_plan(table);
  add_part(plan, shape_of(table));
  place_parts(plan);
  choose_storage(plan, Storage::gathered);
  return plan;
}

PartShape shape_of(const RunPart& part) {
  PartShape shape{.jobs = jobs_with_probes(part.devices), .tables = {}, .shard = {}};
  for (const DeviceResult& device : part.devices) {
    std::set<std::string> seen;
    for (const StoredJob& job : stored_jobs(device)) {
      check_job_name(job.name);
      require(seen.insert(job.name).second,
              "the job '" + job.name + "' occurs twice on one device");
    }
  }
  for_each_table(part, shape.jobs, [&shape](const Table& table) { add_table(shape, table); });
  return shape;
}

void add_table(PartShape& shape, const Table& table) {
  add_table(shape, table.key, shape_of(table));
  std::set<std::string_view> names(shape.names.begin(), shape.names.end());
  Names more;
  for (std::size_t c = 0; c < table.columns.size(); ++c) {
    if (table.columns[c].type != ElementType::name) continue;
    for (const std::string& text : std::get<std::vector<std::string>>(table.values[c])) {
      if (names.insert(text).second) more.push_back(text);
    }
  }
  shape.names.insert(shape.names.end(), more.begin(), more.end());
}

void add_table(PartShape& shape, const TableKey& key, TableShape table) {
  if (table.rows > 0) shape.tables[name_of(key)] = std::move(table);
}

std::string to_json(const PartShape& shape) { return nlohmann::json(shape).dump(); }

PartShape shape_from_json(const std::string& text) {
  return nlohmann::json::parse(text).get<PartShape>();
}

FilePlan make_plan(const std::vector<PartShape>& parts, std::uint64_t gathered_bytes) {
  FilePlan plan;
  plan.jobs = join_jobs(parts);
  join_names(parts, plan);
  for (const PartShape& part : parts) plan.shards.push_back(part.shard);
  for_each_table({}, plan.jobs, [&](const Table& empty) {
    TablePlan& table = plan.tables.emplace_back(begin_plan(empty));
    const TableShape none = shape_of(empty);
    const auto shape_in = [&, name = name_of(empty.key) ](const PartShape& part) -> auto& {
      const auto own = part.tables.find(name);
      return own != part.tables.end() ? own->second : none;
    };
    for (const PartShape& part : parts) add_part(table, shape_in(part));
    place_names(plan, table);
    place_parts(table);
    const bool copied =
        begins_at_chunks(table) && std::ranges::all_of(parts, [&](const PartShape& part) {
          return has_chunks_of(table, shape_in(part));
        });
    choose_storage(table, copied ? Storage::copied : Storage::shared);
  });
  if (bytes_of(plan, Storage::gathered) + bytes_of(plan, Storage::shared) <= gathered_bytes) {
    for (TablePlan& table : plan.tables) {
      std::ranges::replace(table.storage, Storage::shared, Storage::gathered);
    }
  }
  shift_constants(plan);
  return plan;
}

std::uint64_t chunk_rows(std::size_t element_bytes) {
  return std::max<std::uint64_t>(1, chunk_bytes / element_bytes);
}

std::uint64_t TablePlan::most_rows() const {
  return part_rows.empty() ? 0 : std::ranges::max(part_rows);
}

std::vector<std::size_t> TablePlan::columns_of(Storage wanted) const {
  std::vector<std::size_t> found;
  for (std::size_t c = 0; c < columns.size(); ++c) {
    if (storage[c] == wanted) found.push_back(c);
  }
  return found;
}

std::uint64_t FilePlan::shift(const ColumnSpec& column, std::size_t part) const {
  if (column.counts.group.empty() || part == 0) return 0;
  const auto table = std::ranges::find(tables, column.counts, &TablePlan::key);
  require(table != tables.end(), "a column counts rows of no table: " + column.name);
  return table->first_row.at(part);
}

PackedColumn FilePlan::fit(const TablePlan& table, std::size_t column, std::size_t part,
                           PackedColumn rows) const {
  const std::size_t width = table.shapes.at(column).element_bytes;
  if (rows.type != ElementType::name) {
    return sonde::fit(std::move(rows), width, shift(table.columns[column], part));
  }
  std::vector<std::uint32_t> places;
  for (const std::string& name : *rows.names) places.push_back(name_places.at(name));
  return rename(rows, places, width);
}

bool FilePlan::has(Storage wanted) const {
  return std::ranges::any_of(
      tables, [wanted](const TablePlan& table) { return !table.columns_of(wanted).empty(); });
}

}  // namespace sonde
