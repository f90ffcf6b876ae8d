// A run file that is read table by table. Most of what reading a column takes is to find it: what
// was found is kept.
#pragma once

#include "store/hdf5/dataset.hpp"
#include "store/hdf5/hdf5.hpp"
#include "store/plan.hpp"

#include <cstdint>
#include <filesystem>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace sonde {

/// What a file says of a column before its rows are read, and the column itself if it is kept.
struct StoredColumn {
  ColumnShape shape;
  std::uint64_t chunk_rows = 0;                // as in TableShape
  std::shared_ptr<const PackedChunks> chunks;  // all its rows, if they are kept
};

class StoredFile;

/// A table of a file. One that the file does not have has no rows.
class StoredTable {
 public:
  const TableKey& key() const { return key_; }
  std::uint64_t rows() const { return rows_; }
  /// Some rows of a column.
  /// @throws StoreError if the file does not have them, or they are not what this column is: it is
  ///   damaged, or meant to do damage
  PackedColumn read(const ColumnSpec& column, RowRange range) const;
  /// The same of several columns, which are unpacked while others are read.
  std::vector<PackedColumn> read(const std::vector<ColumnSpec>& columns, RowRange range) const;
  /// Whether all its rows have one value, and it is 0.
  bool is_all_zero(const ColumnSpec& column) const;
  /// Rows and columns, without unpacking any of the rows.
  TableShape read_shape(const std::vector<ColumnSpec>& columns) const;

 private:
  friend class StoredFile;
  /// Gives the values of a column that was read, and calls nothing of HDF5.
  using Unpacking = std::function<PackedColumn()>;
  struct Found;

  StoredTable(StoredFile& file, TableKey key);
  Found find(const ColumnSpec& column) const;
  Found find_in_file(const ColumnSpec& column) const;
  Unpacking read_column(const ColumnSpec& column, RowRange range) const;
  Unpacking read_places(const ColumnSpec& column, RowRange range) const;
  void open_group() const;

  StoredFile& file_;
  TableKey key_;
  std::uint64_t rows_ = 0;
  mutable std::optional<hdf5::Handle> group_;  // while the file is open
  mutable std::map<std::string, StoredColumn> kept_;
};

/// One file, opened to be read, and its tables that were asked for. They are found once, and what
/// is found of their columns is kept, so that the file must not change meanwhile.
class StoredFile {
 public:
  /// @param keep_bytes of columns, packed as they are, that are kept, too
  /// @throws StoreError as open_to_read does
  explicit StoredFile(std::filesystem::path path, std::uint64_t keep_bytes = 0);
  StoredFile(const StoredFile&) = delete;
  ~StoredFile();

  /// The file, opened again if it was closed.
  hid_t id();
  /// Lives as long as the file. @throws StoreError
  StoredTable& table(const TableKey& key);
  /// What columns of names refer to; read once. @throws StoreError
  std::shared_ptr<const Names> names();
  /// Until something is wanted that was not kept. A process may have few files open.
  void close();
  /// Whether all columns that were asked for are kept: what was read of them can be read again
  /// without HDF5.
  bool keeps_all() const { return keeps_all_; }
  /// From now on it is not opened again: other threads use what is kept, while one uses HDF5.
  void forbid_opening() { may_open_ = false; }

 private:
  friend class StoredTable;

  std::filesystem::path path_;
  std::uint64_t may_keep_bytes_;
  bool keeps_all_ = true;
  bool may_open_ = true;
  std::optional<hdf5::Handle> file_;
  std::map<TableKey, std::unique_ptr<StoredTable>> tables_;
  std::shared_ptr<const Names> names_;
};

}  // namespace sonde
