// Binds each column of a table to a member of a row, once for writing and reading. rows.hpp lists
// the tables, table_file.hpp writes them.
#pragma once

#include "analysis/results.hpp"
#include "base/error.hpp"
#include "store/hdf5/table.hpp"

#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

namespace sonde {

/// The stored value of a member: 0 or 1 for a bool, a text for an enum, else the value itself.
template <class Member>
auto to_stored(const Member& member) {
  if constexpr (std::is_same_v<Member, bool>) {
    return static_cast<std::uint8_t>(member);
  } else if constexpr (std::is_enum_v<Member>) {
    return std::string_view(to_text(member));
  } else if constexpr (std::is_same_v<Member, std::string>) {
    return std::string_view(member);
  } else {
    return member;
  }
}

/// The reverse of to_stored. @throws StoreError for values that to_stored never gives
template <class Member, class Stored>
Member from_stored(Stored stored) {
  if constexpr (std::is_same_v<Member, bool>) {
    if (stored > 1) throw StoreError("a truth value is neither 0 nor 1");
    return stored == 1;
  } else if constexpr (std::is_same_v<Member, Status>) {
    return parse_status(stored);
  } else if constexpr (std::is_same_v<Member, DeviceOutcome>) {
    return parse_device_outcome(stored);
  } else {
    return Member(stored);
  }
}

/// Access to the member of a row at the end of this chain of members.
template <class... Members>
auto at(Members... members) {
  return [members...](auto& row) -> auto& { return (row.*....*members); };
}

/// A table whose columns are bound to members of a row.
template <class RowType>
class BoundTable {
 public:
  using Row = RowType;
  explicit BoundTable(TableKey key) : empty_{std::move(key), {}} {}

  /// @param access the bound member: a pointer to it, or a chain of pointers by at(). Or a function
  /// that returns a value; such a column cannot be read back.
  /// @param counts if the column holds row numbers: the table of these rows
  template <class Access>
  BoundTable& add(std::string name, std::string units, std::string long_name, Access access,
                  TableKey counts = {}) {
    using Member = std::remove_cvref_t<std::invoke_result_t<Access, Row&>>;
    using Stored = decltype(to_stored(std::declval<Member>()));
    constexpr bool is_text = std::is_same_v<Stored, std::string_view>;
    using InFile = std::vector<std::conditional_t<is_text, std::uint32_t, Stored>>;
    if (is_text) counts = names_key;
    empty_.columns.push_back(
        {std::move(name), std::move(units), std::move(long_name), InFile{}, std::move(counts)});
    put_.push_back([access](std::span<const Row> rows, Names& names) -> Values {
      InFile values;
      values.reserve(rows.size());
      for (const Row& row : rows) {
        if constexpr (is_text) {
          values.push_back(names.row_of(to_stored(std::invoke(access, row))));
        } else {
          values.push_back(to_stored(std::invoke(access, row)));
        }
      }
      return values;
    });
    if constexpr (std::is_lvalue_reference_v<std::invoke_result_t<Access, Row&>>) {
      get_.push_back([access](const Values& values, const Names& names, Row* row) {
        for (const auto value : std::get<InFile>(values)) {
          if constexpr (is_text) {
            std::invoke(access, *row++) = from_stored<Member>(names.at(value));
          } else {
            std::invoke(access, *row++) = from_stored<Member>(value);
          }
        }
      });
    }
    return *this;
  }

  /// Adds two columns, `<name>_offset` and `<name>_length`, for a range of rows of `counted`.
  template <class Access>
  BoundTable& add_range(const std::string& name, const std::string& what, const TableKey& counted,
                        Access access) {
    const auto part = [access](std::uint64_t RowRange::*member) {
      return [=](auto& row) -> auto& { return std::invoke(access, row).*member; };
    };
    add(name + "_offset", "1", "first row of " + what, part(&RowRange::offset), counted);
    return add(name + "_length", "1", "number of rows of " + what, part(&RowRange::length));
  }

  /// The table with its columns, without rows.
  const Table& empty() const { return empty_; }

  /// @param names collects the texts of the rows
  Table to_table(std::span<const Row> rows, Names& names) const {
    Table table = empty_;
    for (std::size_t c = 0; c < put_.size(); ++c) table.columns[c].values = put_[c](rows, names);
    return table;
  }

  /// Views in the rows point into `names`. @param table must have these columns
  std::vector<Row> to_rows(Table table, const Names& names) const {
    std::vector<Row> rows(table.rows());
    for (std::size_t c = 0; c < get_.size(); ++c) {
      get_[c](table.columns.at(c).values, names, rows.data());
    }
    return rows;
  }

 private:
  Table empty_;
  std::vector<std::function<Values(std::span<const Row>, Names&)>> put_;  // one per column
  std::vector<std::function<void(const Values&, const Names&, Row* first)>> get_;
};

/// A table of one column whose rows are plain values. The values are moved, not copied.
template <class T>
class ValueTable {
 public:
  using Row = T;
  ValueTable(TableKey key, std::string name, std::string units, std::string long_name)
      : empty_{std::move(key),
               {{std::move(name), std::move(units), std::move(long_name), std::vector<T>{}}}} {}

  const Table& empty() const { return empty_; }

  Table to_table(std::vector<T> rows) const {
    Table table = empty_;
    table.columns.front().values = std::move(rows);
    return table;
  }

  std::vector<T> to_rows(Table table, const Names&) const {
    return std::get<std::vector<T>>(std::move(table.columns.front().values));
  }

 private:
  Table empty_;
};

}  // namespace sonde
