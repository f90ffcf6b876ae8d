// Tables as in the file: columns of numbers of equal length over one dimension, in one group. Pure
// code; rows.hpp and flatten.hpp make tables from results, table_file.hpp writes them with HDF5.
#pragma once

#include <compare>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <variant>
#include <vector>

namespace sonde {

/// A dimension of a group, for example "traces" and "lane".
struct TableKey {
  std::string group;
  std::string dimension;
  auto operator<=>(const TableKey&) const = default;
};

/// Rows [offset, offset + length) of another table; used for lists of varying length.
struct RowRange {
  std::uint64_t offset = 0;
  std::uint64_t length = 0;
};

/// The table of all different texts of the tables next to it.
inline const TableKey names_key{"names", "name"};

/// The elements of a column, in memory as in the (little-endian) file.
using Values =
    std::variant<std::vector<std::uint8_t>, std::vector<std::uint16_t>, std::vector<std::uint32_t>,
                 std::vector<std::uint64_t>, std::vector<std::int32_t>, std::vector<std::int64_t>,
                 std::vector<double>>;

struct Column {
  std::string name;
  std::string units;  // "1": a plain number; "": a text
  std::string long_name;
  Values values;      // a text is stored as its row in the table of names
  TableKey counts{};  // if the values are row numbers: the table of these rows
};

struct Table {
  TableKey key;
  std::vector<Column> columns;  // all of the same length

  std::uint64_t rows() const;
};

/// The same columns without rows.
Table empty_copy(const Table& table);

/// The bytes of one element, and of all.
std::size_t element_bytes(const Values& values);
std::span<const std::byte> bytes_of(const Values& values);

/// Sets the number of elements. @returns their bytes, to write to
std::span<std::byte> resize(Values& values, std::uint64_t rows);

/// Appends the elements of another column of the same type.
void append(Values& to, Values more);
/// Removes this number of elements from the front.
void drop_front(Values& values, std::uint64_t rows);

/// Adds a number to all row numbers of a column. @throws Error if a result does not fit
void shift(Values& values, std::uint64_t by);

/// The different texts of some tables; the columns hold their rows.
class Names {
 public:
  Names() = default;
  /// From a file. @param offsets, lengths of each text in `bytes`
  /// @throws StoreError if a text is outside of them
  Names(const std::vector<std::uint64_t>& offsets, const std::vector<std::uint32_t>& lengths,
        const std::vector<std::uint8_t>& bytes);

  /// The row of a text; a new row if the text is new.
  std::uint32_t row_of(std::string_view text);
  /// The view is valid as long as the names exist. @throws StoreError if there is no such row
  std::string_view at(std::uint32_t row) const;
  /// Two tables: the offset and length of each text, and the UTF-8 bytes of all.
  std::vector<Table> tables() const;

 private:
  std::deque<std::string> texts_;  // a deque, since rows_ and callers hold views of them
  std::unordered_map<std::string_view, std::uint32_t> rows_;
};

/// The content of a file or group: the tables, and the names with their texts.
std::vector<Table> with_names(std::vector<Table> tables, const Names& names);

}  // namespace sonde
