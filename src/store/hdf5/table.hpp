// Tables as the file keeps them: equally long columns over one dimension, in one group. Pure; the
// way from results to tables is rows.hpp and flatten.hpp, the way to HDF5 is table_file.hpp.
#pragma once

#include "base/error.hpp"

#include <compare>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <variant>
#include <vector>

namespace sonde {

/// One dimension of one group, for example "jobs/cache.l1/traces" and "lane".
struct TableKey {
  std::string group;
  std::string dimension;
  auto operator<=>(const TableKey&) const = default;
};

/// Rows [offset, offset + length) of another table: how ragged data is kept.
struct RowRange {
  std::uint64_t offset = 0;
  std::uint64_t length = 0;
};

/// Element types, in the file all little-endian. `u32` and `u64` are so in memory; the file has
/// the narrowest of u16, u32 and u64 that holds all values of the column. `row`, the number of a
/// row of another table, is u64 in both. `text`: UTF-8 of a fixed number of bytes, padded with
/// zeros. `name`: a text that many rows have; in the file as the row, u16 or u32, that it has in
/// the table of names.
enum class ElementType { u8, u32, u64, row, i32, i64, f64, text, name };

/// Different texts, of which columns of names hold the places.
using Names = std::vector<std::string>;

/// What a column is, whatever it holds.
struct ColumnSpec {
  std::string name;
  std::string units;  // "1": a plain number; "": text
  std::string long_name;
  ElementType type = ElementType::u64;
  /// Of type `row`: the table that it counts, which grows by the rows of earlier devices.
  TableKey counts{};
};

using Values =
    std::variant<std::vector<std::uint8_t>, std::vector<std::uint32_t>, std::vector<std::uint64_t>,
                 std::vector<std::int32_t>, std::vector<std::int64_t>, std::vector<double>,
                 std::vector<std::string>>;

struct Table {
  TableKey key;
  std::vector<ColumnSpec> columns;
  std::vector<Values> values;  // one per column, all of the same length

  std::uint64_t rows() const;
};

/// An empty column for that type.
Values empty_values(ElementType type);

std::uint64_t size_of(const Values& values);

/// Bytes that one element needs in the file: the longest text (at least 2), the largest number, as
/// many names as there are elements.
std::size_t element_bytes(ElementType type, const Values& values);

/// The one value that all elements have, as the file keeps it, of a name the text and a zero; empty
/// if they differ, there are none, or it is a text too long for the header of a dataset.
std::vector<std::uint8_t> constant_of(ElementType type, const Values& values);

/// Rows of a column as the file keeps them.
struct PackedColumn {
  ElementType type = ElementType::u64;
  std::size_t element_bytes = 1;
  std::vector<std::byte> bytes;
  std::shared_ptr<const Names> names{};  // of a column of names

  std::uint64_t rows() const { return bytes.size() / element_bytes; }
};

/// Bytes of a column that holds places among so many names.
std::size_t name_bytes(std::size_t names);

/// These rows in `width_bytes` each, element_bytes or more; names with a table of their own.
/// @throws Error if a text or a number does not fit
PackedColumn pack(ElementType type, const Values& values, std::size_t width_bytes, RowRange rows);

/// The same rows in other `width_bytes`, `shift` added to each (`row` only).
/// @throws Error if a text or a number does not fit
PackedColumn fit(PackedColumn column, std::size_t width_bytes, std::uint64_t shift);

/// The same rows as places among other names. @param place of each old name among the new ones
/// @throws StoreError if a row has no old name
PackedColumn rename(const PackedColumn& column, std::span<const std::uint32_t> place,
                    std::size_t width_bytes);

/// Calls `work` with a number of that width, known to the compiler, which then copies without a
/// call. @throws Error for a width that no column has
template <class Work>
void with_width(std::size_t width_bytes, Work&& work) {
  switch (width_bytes) {
    case 2: return work(std::uint16_t{});
    case 4: return work(std::uint32_t{});
    case 8: return work(std::uint64_t{});
    default: throw Error("a column of an unknown element size");
  }
}

template <class T>
T element_at(const std::byte* bytes, std::uint64_t row) {
  T value;
  std::memcpy(&value, bytes + row * sizeof(T), sizeof(T));
  return value;
}

/// The reverse of pack, of these rows. @throws StoreError if a row has a name that there is not
Values unpack(const PackedColumn& column, RowRange rows);
Values unpack(const PackedColumn& column);

/// As long as the column lives. @pre it is a column of texts or names, and has that row
/// @throws StoreError if there is no such name
std::string_view text_at(const PackedColumn& column, std::uint64_t row);

/// Calls `take` with the value of each of these rows: a number, or the text that text_at gives.
/// @tparam T of what the column has in memory @throws StoreError as text_at does
template <class T, class Take>
void for_each_value(const PackedColumn& column, RowRange rows, Take&& take) {
  require(rows.offset + rows.length <= column.rows(), "rows beyond the end of a packed column");
  const std::uint64_t end = rows.offset + rows.length;
  if constexpr (std::is_same_v<T, std::string>) {
    for (std::uint64_t row = rows.offset; row < end; ++row) take(text_at(column, row));
  } else {
    const auto take_all = [&]<class Stored>(Stored) {
      for (std::uint64_t row = rows.offset; row < end; ++row) {
        take(static_cast<T>(element_at<Stored>(column.bytes.data(), row)));
      }
    };
    if (column.element_bytes == sizeof(T)) return take_all(T{});
    with_width(column.element_bytes, take_all);
  }
}

/// Only these rows, in this order.
PackedColumn pick(const PackedColumn& column, std::span<const std::uint64_t> rows);

}  // namespace sonde
