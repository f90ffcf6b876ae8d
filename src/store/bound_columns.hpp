// Ties a column to the member of a row that it keeps, once, for writing and for reading.
#pragma once

#include "analysis/results.hpp"
#include "store/table.hpp"

#include <functional>
#include <span>
#include <string>
#include <type_traits>
#include <vector>

namespace sonde {

/// Rows [offset, offset + length) of another table: how ragged data is kept.
struct RowRange {
  std::uint64_t offset = 0;
  std::uint64_t length = 0;
};

template <class Row>
struct BoundColumn {
  ColumnSpec spec;
  std::function<void(const Row&, Values&)> put;
  std::function<void(Row&, const Values&, std::size_t)> get;
};

template <class Row>
using BoundColumns = std::vector<BoundColumn<Row>>;

/// How a member is kept: truth values as 0 and 1, outcomes by name, all else as it is.
template <class T>
struct Kept {
  using type = T;
  static T to(const T& value) { return value; }
  static T from(const T& value) { return value; }
};
template <>
struct Kept<bool> {
  using type = std::uint8_t;
  static type to(bool value) { return value ? 1 : 0; }
  static bool from(type value) { return value != 0; }
};
template <>
struct Kept<Status> {
  using type = std::string;
  static type to(Status value) { return std::string(to_text(value)); }
  static Status from(const type& value) { return parse_status(value); }
};
template <>
struct Kept<DeviceOutcome> {
  using type = std::string;
  static type to(DeviceOutcome value) { return std::string(to_text(value)); }
  static DeviceOutcome from(const type& value) { return parse_device_outcome(value); }
};

template <class T>
constexpr ElementType element_type() {
  if constexpr (std::is_same_v<T, std::uint8_t>) return ElementType::u8;
  if constexpr (std::is_same_v<T, std::uint32_t>) return ElementType::u32;
  if constexpr (std::is_same_v<T, std::uint64_t>) return ElementType::u64;
  if constexpr (std::is_same_v<T, std::int32_t>) return ElementType::i32;
  if constexpr (std::is_same_v<T, std::int64_t>) return ElementType::i64;
  if constexpr (std::is_same_v<T, double>) return ElementType::f64;
  if constexpr (std::is_same_v<T, std::string>) return ElementType::text;
}

/// Builds the columns of a row. Each names its member by an `access` that works on rows to be read
/// and to be filled: `[](auto& row) -> auto& { return row.member; }`.
template <class Row>
class ColumnList {
 public:
  template <class Access>
  ColumnList& add(std::string name, std::string units, std::string long_name, Access access,
                  TableKey counts = {}) {
    using Member = std::remove_cvref_t<decltype(access(std::declval<Row&>()))>;
    using Stored = typename Kept<Member>::type;
    columns_.push_back(
        {.spec = {std::move(name), std::move(units), std::move(long_name), element_type<Stored>(),
                  std::move(counts)},
         .put =
             [access](const Row& row, Values& values) {
               std::get<std::vector<Stored>>(values).push_back(Kept<Member>::to(access(row)));
             },
         .get =
             [access](Row& row, const Values& values, std::size_t i) {
               access(row) = Kept<Member>::from(std::get<std::vector<Stored>>(values)[i]);
             }});
    return *this;
  }

  /// Two columns, `<name>_offset` and `<name>_length`, for rows of the table `counted`.
  template <class Access>
  ColumnList& range(const std::string& name, const std::string& what, const TableKey& counted,
                    Access access) {
    add(
        name + "_offset", "1",
        "first row of " + what, [access](auto& row) -> auto& { return access(row).offset; },
        counted);
    return add(
        name + "_length", "1",
        "number of rows of " + what, [access](auto& row) -> auto& { return access(row).length; });
  }

  BoundColumns<Row> take() { return std::move(columns_); }

 private:
  BoundColumns<Row> columns_;
};

template <class Row>
std::vector<ColumnSpec> column_specs(const BoundColumns<Row>& columns) {
  std::vector<ColumnSpec> specs;
  for (const auto& column : columns) specs.push_back(column.spec);
  return specs;
}

template <class Row>
Table make_table(TableKey key, const BoundColumns<Row>& columns, std::span<const Row> rows) {
  Table table{.key = std::move(key), .columns = column_specs(columns), .values = {}};
  for (const auto& column : columns) {
    Values& values = table.values.emplace_back(empty_values(column.spec.type));
    for (const Row& row : rows) column.put(row, values);
  }
  return table;
}

template <class Row>
std::vector<Row> take_rows(const BoundColumns<Row>& columns, const Table& table) {
  std::vector<Row> rows(table.rows());
  for (std::size_t c = 0; c < columns.size(); ++c) {
    for (std::size_t i = 0; i < rows.size(); ++i) columns[c].get(rows[i], table.values[c], i);
  }
  return rows;
}

}  // namespace sonde
