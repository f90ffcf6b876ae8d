// Tables as the file keeps them: equally long columns of numbers over one dimension, in one group.
// Pure; rows.hpp and flatten.hpp make tables of results, table_file.hpp writes them with HDF5.
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

/// All different texts of the tables beside it.
inline const TableKey names_key{"names", "name"};

/// In memory as in the file, which is little-endian.
using Values =
    std::variant<std::vector<std::uint8_t>, std::vector<std::uint16_t>, std::vector<std::uint32_t>,
                 std::vector<std::uint64_t>, std::vector<std::int32_t>, std::vector<std::int64_t>,
                 std::vector<double>>;

struct Column {
  std::string name;
  std::string units;  // "1": a plain number; "": a text
  std::string long_name;
  Values values;      // of texts the rows that they have in the table of names
  TableKey counts{};  // the table whose rows they are, if they are rows of one
};

struct Table {
  TableKey key;
  std::vector<Column> columns;  // all of the same length

  std::uint64_t rows() const;
};

/// The same columns without rows.
Table empty_copy(const Table& table);

std::size_t element_bytes(const Values& values);
std::span<const std::byte> bytes_of(const Values& values);

/// Makes room for so many elements. @returns their bytes, to be written to
std::span<std::byte> resize(Values& values, std::uint64_t rows);

/// Adds elements behind those of another column of the same type.
void append(Values& to, Values more);
/// Removes so many elements from the front.
void drop_front(Values& values, std::uint64_t rows);

/// Adds a number to all rows of other tables. @throws Error if one does not fit
void shift(Values& values, std::uint64_t by);

/// The different texts of some tables, of which columns hold the rows.
class Names {
 public:
  Names() = default;
  /// Of a file. @param offsets, lengths of each text in the bytes
  /// @throws StoreError if a text lies beyond them
  Names(const std::vector<std::uint64_t>& offsets, const std::vector<std::uint32_t>& lengths,
        const std::vector<std::uint8_t>& bytes);

  /// Its row, a new one if there is none yet.
  std::uint32_t row_of(std::string_view text);
  /// Lives as long as the names. @throws StoreError if there is no such row
  std::string_view at(std::uint32_t row) const;
  /// The tables that hold the texts: where each lies in the bytes of all, and these (UTF-8).
  std::vector<Table> tables() const;

 private:
  std::deque<std::string> texts_;  // they stay where they are
  std::unordered_map<std::string_view, std::uint32_t> rows_;
};

/// What a file or group holds: the tables, and the names that got their texts.
std::vector<Table> with_names(std::vector<Table> tables, const Names& names);

}  // namespace sonde
