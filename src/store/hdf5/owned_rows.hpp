// Rows that belong to rows of another table, by offset and length.
#pragma once

#include "base/error.hpp"
#include "store/hdf5/rows.hpp"
#include "store/hdf5/stored_tables.hpp"

#include <algorithm>
#include <cstdint>
#include <functional>
#include <limits>
#include <span>
#include <string>
#include <vector>

namespace sonde {

/// @param what parts of the message; joined only if it is thrown, since there are millions of rows
template <class... Words>
void require_sound(bool sound, const Words&... what) {
  if (sound) return;
  std::string said;
  ((said += what), ...);
  throw StoreError(said);
}

/// Rows of a table from `first` on. Ranges count from the first row of the whole table.
template <class T>
struct Span {
  std::string group;  // of the table
  std::uint64_t first = 0;
  std::vector<T> rows = {};

  /// Copies rows. @throws StoreError if the span does not hold them
  std::vector<T> take(RowRange range) const {
    if (range.length == 0) return {};
    const std::span<const T> owned = std::span(rows).subspan(place_of(range), range.length);
    return {owned.begin(), owned.end()};
  }

  /// The rows in place. The caller may move them, since no two rows own the same rows.
  std::span<T> owned_by(RowRange range) {
    if (range.length == 0) return {};
    return std::span(rows).subspan(place_of(range), range.length);
  }

 private:
  std::uint64_t place_of(RowRange range) const {
    require_sound(range.offset >= first && range.offset - first <= rows.size() &&
                      range.length <= rows.size() - (range.offset - first),
                  group, ": a row refers to rows that belong to another device");
    return range.offset - first;
  }
};

/// The range that the ranges of these rows cover without gaps; devices are stored one after the
/// other. Ranges may not overlap, since shared rows would be copied without bound. There may be no
/// gap, since its rows would be read in vain for every device.
/// @param group name of the table that the ranges refer to
template <class Rows, class Access>
RowRange hull(const std::string& group, const Rows& rows, Access access) {
  std::uint64_t begin = 0;
  std::uint64_t end = 0;
  std::uint64_t owned = 0;
  for (const auto& row : rows) {
    const RowRange& range = std::invoke(access, row);
    if (range.length == 0) continue;
    require_sound(range.length <= std::numeric_limits<std::uint64_t>::max() - range.offset, group,
                  ": a row refers to rows beyond all numbers");
    begin = end == 0 ? range.offset : std::min(begin, range.offset);
    end = std::max(end, range.offset + range.length);
    require_sound(range.length <= end - begin - owned, group, ": two rows refer to the same rows");
    owned += range.length;
  }
  require_sound(owned == end - begin, group, ": rows between those of one device are not its own");
  return {begin, end - begin};
}

template <class AnyTable>
using RowOf = typename AnyTable::Row;

/// Reads some rows. @param table a BoundTable or ValueTable @throws StoreError
template <class AnyTable>
Span<RowOf<AnyTable>> read_span(const StoredTables& tables, const AnyTable& table, RowRange range) {
  return {table.empty().key.group, range.offset,
          table.to_rows(tables.read(table.empty(), range), tables.names())};
}

/// Reads all rows. @throws StoreError
template <class AnyTable>
std::vector<RowOf<AnyTable>> read_whole(const StoredTables& tables, const AnyTable& table) {
  return read_span(tables, table, {0, tables.rows(table.empty().key)}).rows;
}

/// The rows of `table` that these rows own. Does not open the table if they own none.
template <class AnyTable, class Owners, class Access = std::identity>
Span<RowOf<AnyTable>> read_owned(const StoredTables& tables, const AnyTable& table,
                                 const Owners& owners, Access access = {}) {
  const std::string& group = table.empty().key.group;
  const RowRange range = hull(group, owners, access);
  if (range.length == 0) return {.group = group};
  return read_span(tables, table, range);
}

}  // namespace sonde
