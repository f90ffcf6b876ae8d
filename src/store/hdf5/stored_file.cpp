// What is asked of HDF5 of a column, in the order in which it can be believed.
#include "store/hdf5/stored_file.hpp"

#include "base/error.hpp"
#include "store/hdf5/column_layout.hpp"
#include "store/hdf5/rows.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <deque>
#include <future>
#include <utility>

namespace sonde {
namespace {

using hdf5::check;
using hdf5::Handle;

// Of fewer rows unpacking takes no longer than to begin a thread.
constexpr std::uint64_t least_rows_to_share = 10'000;
// Columns, each by a thread of its own: more would only wait for the one that reads.
constexpr std::size_t most_unpacked_at_once = 4;

// A fleet's metrics, units, jobs and statuses are some two thousand.
constexpr std::uint64_t most_names = 1 << 20;

std::string path_of(const TableKey& key, const std::string& column) {
  return key.group + "/" + column;
}

/// @throws StoreError unless the column has as many rows as its table
void require_rows(const Dataset& dataset, const std::string& path, std::uint64_t rows) {
  const std::uint64_t extent = extent_of(dataset, path);
  if (extent != rows) {
    throw StoreError(fmt::format("{} has {} rows and its table {}", path, extent, rows));
  }
}

/// Rows of a column that has neither chunks nor one value.
PackedColumn read_plain(const Dataset& dataset, const std::string& path, ElementType type,
                        std::size_t element_bytes, std::uint64_t all_rows, RowRange range) {
  PackedColumn packed{type, element_bytes, std::vector<std::byte>(range.length * element_bytes)};
  if (range.length == 0) return packed;
  const Handle space = make_space(all_rows);
  const hsize_t start = range.offset;
  const hsize_t size = range.length;
  check(H5Sselect_hyperslab(space, H5S_SELECT_SET, &start, nullptr, &size, nullptr),
        "selecting rows");
  check(H5Dread(dataset, file_type(type, element_bytes), make_space(range.length), space,
                H5P_DEFAULT, packed.bytes.data()),
        "reading " + path);
  return packed;
}

PackedColumn repeat(ElementType type, const std::vector<std::uint8_t>& value, std::uint64_t rows) {
  PackedColumn packed{type, value.size(), {}};
  packed.bytes.reserve(rows * value.size());
  const auto* begin = reinterpret_cast<const std::byte*>(value.data());
  for (std::uint64_t row = 0; row < rows; ++row) {
    packed.bytes.insert(packed.bytes.end(), begin, begin + value.size());
  }
  return packed;
}

/// These rows of chunks that hold all.
PackedChunks rows_of(const PackedChunks& all, RowRange rows) {
  PackedChunks some{all.path, all.type, all.element_bytes, all.chunk_rows, all.filters, rows, {}};
  if (rows.length == 0) return some;
  const std::uint64_t last = (rows.offset + rows.length - 1) / all.chunk_rows;
  for (std::uint64_t chunk = rows.offset / all.chunk_rows; chunk <= last; ++chunk) {
    some.chunks.push_back(all.chunks.at(chunk));
  }
  return some;
}

}  // namespace

/// What is kept of a column, or else the column, open.
struct StoredTable::Found {
  StoredColumn column;
  std::optional<Dataset> dataset;
};

StoredTable::StoredTable(StoredFile& file, TableKey key) : file_(file), key_(std::move(key)) {
  open_group();
  if (!group_) return;
  const auto scale = find_member(*group_, key_.group + "/", key_.dimension);
  if (scale) rows_ = extent_of(*scale, path_of(key_, key_.dimension));
}

void StoredTable::open_group() const {
  auto group = hdf5::find_group(file_.id(), key_.group);
  if (group) group_.emplace(std::move(*group));
}

StoredTable::Found StoredTable::find_in_file(const ColumnSpec& column) const {
  const std::string path = path_of(key_, column.name);
  if (!group_) open_group();
  if (!group_) throw StoreError(key_.group + " is missing");
  Dataset dataset = open_member(*group_, key_.group + "/", column.name);
  const Handle stored(H5Dget_type(dataset), H5Tclose, "reading the type of " + path);
  const std::size_t bytes = H5Tget_size(stored);
  const Handle expected = file_type(column.type, bytes);
  if (H5Tequal(stored, expected) <= 0) throw StoreError(path + " has an unexpected type");
  require_rows(dataset, path, rows_);
  require_whole(dataset, path, rows_, bytes);
  return {{.shape = {.element_bytes = bytes, .constant = read_constant(dataset, expected, path)},
           .chunk_rows = read_chunk_rows(dataset, path),
           .chunks = nullptr},
          std::move(dataset)};
}

StoredTable::Found StoredTable::find(const ColumnSpec& column) const {
  if (const auto kept = kept_.find(column.name); kept != kept_.end()) return {kept->second, {}};
  Found found = find_in_file(column);
  StoredColumn& own = found.column;
  if (rows_ > 0 && own.shape.constant.empty() && is_chunked(*found.dataset)) {
    const std::uint64_t bytes = H5Dget_storage_size(*found.dataset);
    if (bytes <= file_.may_keep_bytes_) {
      own.chunks = std::make_shared<const PackedChunks>(
          read_chunks(*found.dataset, path_of(key_, column.name), column.type,
                      own.shape.element_bytes, {0, rows_}));
      file_.may_keep_bytes_ -= bytes;
    }
  }
  if (own.chunks || !own.shape.constant.empty()) {
    kept_.emplace(column.name, own);
  } else if (rows_ > 0) {
    file_.keeps_all_ = false;
  }
  return found;
}

StoredTable::Unpacking StoredTable::read_column(const ColumnSpec& column, RowRange range) const {
  if (column.type == ElementType::name) {
    return [unpack_places = read_places(column, range), names = file_.names()] {
      PackedColumn packed = unpack_places();
      packed.names = names;
      return packed;
    };
  }
  return read_places(column, range);
}

/// Of a column of names those alone.
StoredTable::Unpacking StoredTable::read_places(const ColumnSpec& column, RowRange range) const {
  const std::string path = path_of(key_, column.name);
  if (range.offset > rows_ || range.length > rows_ - range.offset) {
    throw StoreError(fmt::format("{} has {} rows, fewer than are referred to", path, rows_));
  }
  Found found = find(column);
  StoredColumn& own = found.column;
  if (!own.shape.constant.empty()) {
    return [=, value = std::move(own.shape.constant), type = column.type] {
      return repeat(type, value, range.length);
    };
  }
  if (own.chunks) {
    return [some = rows_of(*own.chunks, range)] { return unpack_chunks(some); };
  }
  if (range.length > 0 && is_chunked(*found.dataset)) {
    return [packed = read_chunks(*found.dataset, path, column.type, own.shape.element_bytes,
                                 range)] { return unpack_chunks(packed); };
  }
  return [packed = read_plain(*found.dataset, path, column.type, own.shape.element_bytes, rows_,
                              range)]() mutable { return std::move(packed); };
}

PackedColumn StoredTable::read(const ColumnSpec& column, RowRange range) const {
  return read_column(column, range)();
}

std::vector<PackedColumn> StoredTable::read(const std::vector<ColumnSpec>& columns,
                                            RowRange range) const {
  std::deque<std::future<PackedColumn>> unpacking;
  std::vector<PackedColumn> packed;
  const auto take = [&] {
    packed.push_back(unpacking.front().get());
    unpacking.pop_front();
  };
  for (const ColumnSpec& column : columns) {
    Unpacking unpack_column = read_column(column, range);
    if (range.length < least_rows_to_share) {
      packed.push_back(unpack_column());
      continue;
    }
    unpacking.push_back(std::async(std::launch::async, std::move(unpack_column)));
    if (unpacking.size() == most_unpacked_at_once) take();
  }
  while (!unpacking.empty()) take();
  return packed;
}

bool StoredTable::is_all_zero(const ColumnSpec& column) const {
  const std::vector<std::uint8_t> value = find(column).column.shape.constant;
  return !value.empty() && std::ranges::all_of(value, [](std::uint8_t byte) { return byte == 0; });
}

TableShape StoredTable::read_shape(const std::vector<ColumnSpec>& columns) const {
  TableShape shape{.rows = rows_, .columns = {}};
  for (const ColumnSpec& spec : columns) {
    StoredColumn column = find(spec).column;
    shape.columns.push_back(std::move(column.shape));
    if (columns.size() == 1) shape.chunk_rows = column.chunk_rows;
  }
  return shape;
}

StoredFile::StoredFile(std::filesystem::path path, std::uint64_t keep_bytes)
    : path_(std::move(path)), may_keep_bytes_(keep_bytes), file_(hdf5::open_to_read(path_)) {}

StoredFile::~StoredFile() { close(); }

hid_t StoredFile::id() {
  if (!file_) {
    require(may_open_, "what is wanted of a file was not kept");
    file_.emplace(hdf5::open_to_read(path_));
  }
  return *file_;
}

StoredTable& StoredFile::table(const TableKey& key) {
  auto& table = tables_[key];
  if (!table) table.reset(new StoredTable(*this, key));
  return *table;
}

std::shared_ptr<const Names> StoredFile::names() {
  if (!names_) {
    const ValueTable<std::string> list = name_table();
    const StoredTable& stored = table(list.key);
    if (stored.rows() > most_names) {
      throw StoreError(fmt::format("it has {} names, more than sonde takes", stored.rows()));
    }
    const Values read = unpack(stored.read(list.column, {0, stored.rows()}));
    names_ = std::make_shared<const Names>(std::get<Names>(read));
  }
  return names_;
}

void StoredFile::close() {
  for (auto& [key, table] : tables_) {
    if (table) table->group_.reset();
  }
  file_.reset();
}

}  // namespace sonde
