// Rows that rows of another table own, by offset and length: read together, and taken from what was
// read.
#pragma once

#include "base/error.hpp"
#include "store/hdf5/rows.hpp"
#include "store/hdf5/stored_file.hpp"

#include <algorithm>
#include <cstdint>
#include <functional>
#include <limits>
#include <span>
#include <string>
#include <utility>
#include <variant>
#include <vector>

namespace sonde {

/// @param what in words, one after the other: they are joined only where they must be said, as
/// there are millions of rows
template <class... Words>
void require_sound(bool sound, const Words&... what) {
  if (sound) return;
  std::string said;
  ((said += what), ...);
  throw StoreError(said);
}

/// Place of a range among so many rows of a table from `first` on.
/// @throws StoreError if they do not have it
inline std::uint64_t place_among(const std::string& group, RowRange rows, RowRange range) {
  require_sound(range.offset >= rows.offset && range.offset - rows.offset <= rows.length &&
                    range.length <= rows.length - (range.offset - rows.offset),
                group, ": a row refers to rows that belong to another device");
  return range.offset - rows.offset;
}

/// Rows of a table from `first` on; ranges of the file are taken from it.
template <class T>
struct Span {
  std::string group;  // of the table
  std::uint64_t first = 0;
  std::vector<T> rows;

  std::vector<T> take(RowRange range) const {
    const std::span<const T> owned = owned_by(range);
    return {owned.begin(), owned.end()};
  }

  /// The same in their place, from which they may be moved: no two rows own the same.
  std::span<T> owned_by(RowRange range) {
    if (range.length == 0) return {};
    return std::span(rows).subspan(place_of(range), range.length);
  }
  std::span<const T> owned_by(RowRange range) const {
    if (range.length == 0) return {};
    return std::span(rows).subspan(place_of(range), range.length);
  }

 private:
  std::uint64_t place_of(RowRange range) const {
    return place_among(group, {first, rows.size()}, range);
  }
};

/// The one range that holds all ranges of these rows, as devices are stored one after the other. No
/// two may overlap: what rows share would be copied for each of them, without bound.
/// @param group of the table that they refer to
template <class Row, class Access>
RowRange hull(const std::string& group, const std::vector<Row>& rows, Access access) {
  std::uint64_t begin = 0;
  std::uint64_t end = 0;
  std::uint64_t owned = 0;
  for (const Row& row : rows) {
    const RowRange& range = std::invoke(access, row);
    if (range.length == 0) continue;
    require_sound(range.length <= std::numeric_limits<std::uint64_t>::max() - range.offset, group,
                  ": a row refers to rows beyond all numbers");
    begin = end == 0 ? range.offset : std::min(begin, range.offset);
    end = std::max(end, range.offset + range.length);
    require_sound(range.length <= end - begin - owned, group, ": two rows refer to the same rows");
    owned += range.length;
  }
  return {begin, end - begin};
}

template <class Row>
Span<Row> read_span(StoredFile& file, const BoundTable<Row>& table, RowRange range) {
  return {table.key().group, range.offset,
          table.to_rows(file.table(table.key()).read(table.columns(), range))};
}

template <class T>
Span<T> read_span(StoredFile& file, const ValueTable<T>& values, RowRange range) {
  Values read = unpack(file.table(values.key).read(values.column, range));
  return {values.key.group, range.offset, std::move(std::get<std::vector<T>>(read))};
}

const TableKey& key_of(const auto& table) {
  if constexpr (requires { table.key(); }) {
    return table.key();
  } else {
    return table.key;
  }
}

/// The rows of `table` that these rows own. If they own none, the table is not looked at.
template <class Owner, class Access>
auto read_owned(StoredFile& file, const auto& table, const std::vector<Owner>& owners,
                Access access) {
  const RowRange range = hull(key_of(table).group, owners, access);
  if (range.length == 0) return decltype(read_span(file, table, range)){key_of(table).group, 0, {}};
  return read_span(file, table, range);
}

/// Rows that stay packed until they are taken: those of many devices, which are put together one
/// after the other, take some times less memory so.
/// @tparam Table a BoundTable or ValueTable
template <class Table>
class PackedSpan {
 public:
  /// These rows. If there are none, the file is not looked at.
  PackedSpan(StoredFile& file, Table table, RowRange range)
      : table_(std::move(table)), range_(range) {
    if (range.length == 0) return;
    const StoredTable& stored = file.table(key_of(table_));
    if constexpr (is_bound) {
      columns_ = stored.read(table_.columns(), range);
    } else {
      columns_.push_back(stored.read(table_.column, range));
    }
  }

  const std::string& group() const { return key_of(table_).group; }
  std::uint64_t length() const { return range_.length; }

  /// Views in what is taken live as long as the span.
  auto take(RowRange range) const {
    if constexpr (is_bound) {
      return range.length == 0 ? table_.to_rows({}) : table_.to_rows(columns_, place_of(range));
    } else {
      Values values = empty_values(table_.column.type);
      if (range.length > 0) values = unpack(columns_.front(), place_of(range));
      return std::get<typename Table::Values>(std::move(values));
    }
  }

  /// Bytes of a text.
  std::string_view text(RowRange range) const {
    if (range.length == 0) return {};
    const RowRange place = place_of(range);
    return {reinterpret_cast<const char*>(columns_.front().bytes.data()) + place.offset,
            place.length};
  }

  /// The ranges that a BoundTable has by add_range; none if it has none of that name.
  std::vector<RowRange> ranges(const std::string& name) const {
    std::vector<RowRange> all(length());
    const auto fill = [&](const std::string& column, std::uint64_t RowRange::*member) {
      const auto found = std::ranges::find(table_.columns(), column, &ColumnSpec::name);
      if (found == table_.columns().end() || all.empty()) return;
      auto range = all.begin();
      for_each_value<std::uint64_t>(
          columns_[static_cast<std::size_t>(found - table_.columns().begin())], {0, length()},
          [&](std::uint64_t value) { (*range++).*member = value; });
    };
    fill(name + "_offset", &RowRange::offset);
    fill(name + "_length", &RowRange::length);
    return all;
  }

 private:
  static constexpr bool is_bound = requires(const Table& table) { table.columns(); };

  RowRange place_of(RowRange range) const {
    return {place_among(group(), range_, range), range.length};
  }

  Table table_;
  RowRange range_;
  std::vector<PackedColumn> columns_;
};

}  // namespace sonde
