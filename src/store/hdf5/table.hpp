// Tables as the file keeps them: equally long columns of numbers over one dimension, in one group.
// Pure; rows.hpp and flatten.hpp make tables of results, table_file.hpp writes them with HDF5.
#pragma once

#include "base/error.hpp"

#include <compare>
#include <cstddef>
#include <cstdint>
#include <deque>
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

/// Element types, in memory as in the file; the file is little-endian. `row` is the number of a row
/// of another table (u64). `text` is the row that a text has in the table of names (u32).
enum class ElementType { u8, u32, u64, row, i32, i64, f64, text };

/// What a column is, whatever it holds.
struct ColumnSpec {
  std::string name;
  std::string units;  // "1": a plain number; "": a text
  std::string long_name;
  ElementType type = ElementType::u64;
  /// Of type `row` and `text`: the table whose rows the column counts.
  TableKey counts{};
};

using Values =
    std::variant<std::vector<std::uint8_t>, std::vector<std::uint32_t>, std::vector<std::uint64_t>,
                 std::vector<std::int32_t>, std::vector<std::int64_t>, std::vector<double>>;

struct Table {
  TableKey key;
  std::vector<ColumnSpec> columns;
  std::vector<Values> values;  // one per column, all of the same length

  std::uint64_t rows() const;
};

/// An empty column for that type.
Values empty_values(ElementType type);

std::uint64_t size_of(const Values& values);
std::size_t element_bytes(const Values& values);
const std::byte* bytes_of(const Values& values);

/// Makes room for so many elements, for HDF5 to write to. @returns the first of them
void* resize(Values& values, std::uint64_t rows);

/// Adds elements behind those of another column of the same type.
void append(Values& to, const Values& more);
/// Takes so many elements from the front.
Values take_front(Values& values, std::uint64_t rows);

/// Adds a number to all rows of other tables (`row`, `text`). @throws Error if one does not fit
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
  const std::deque<std::string>& texts() const { return texts_; }

 private:
  std::deque<std::string> texts_;  // they stay where they are
  std::unordered_map<std::string_view, std::uint32_t> rows_;
};

}  // namespace sonde
