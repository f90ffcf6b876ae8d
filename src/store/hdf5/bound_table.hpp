// Ties each column of a table to the member of a row that it keeps, once, for writing and for
// reading. rows.hpp lists the tables, table_file.hpp brings them into the file.
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

/// What is kept of a member: 0 or 1 of a truth value, the text of an outcome, all else as it is.
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

/// The reverse. @throws StoreError for what to_stored never gives
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

template <class T>
constexpr ElementType element_type() {
  if constexpr (std::is_same_v<T, std::uint8_t>) return ElementType::u8;
  if constexpr (std::is_same_v<T, std::uint32_t>) return ElementType::u32;
  if constexpr (std::is_same_v<T, std::uint64_t>) return ElementType::u64;
  if constexpr (std::is_same_v<T, std::int32_t>) return ElementType::i32;
  if constexpr (std::is_same_v<T, std::int64_t>) return ElementType::i64;
  if constexpr (std::is_same_v<T, double>) return ElementType::f64;
  if constexpr (std::is_same_v<T, std::string_view>) return ElementType::text;
}

/// All different texts of the tables beside it.
inline const TableKey names_key{"names", "name"};

/// The member of a row at the end of this chain of members.
template <class... Members>
auto at(Members... members) {
  return [members...](auto& row) -> auto& { return (row.*....*members); };
}

/// A table whose columns keep the members of a row.
template <class Row>
class BoundTable {
 public:
  explicit BoundTable(TableKey key) : key_(std::move(key)) {}

  /// @param access the member that the column keeps: a pointer to it, or a chain of them by at();
  /// or a function that gives a value, of a column that is never read back
  /// @param counts the table whose rows the column counts, if it does
  template <class Access>
  BoundTable& add(std::string name, std::string units, std::string long_name, Access access,
                  TableKey counts = {}) {
    using Member = std::remove_cvref_t<std::invoke_result_t<Access, Row&>>;
    using Stored = decltype(to_stored(std::declval<Member>()));
    ElementType type = counts.group.empty() ? element_type<Stored>() : ElementType::row;
    if (type == ElementType::text) counts = names_key;
    columns_.push_back(
        {std::move(name), std::move(units), std::move(long_name), type, std::move(counts)});
    put_.push_back([access](std::span<const Row> rows, Names& names) -> Values {
      std::vector<InFile<Stored>> values;
      values.reserve(rows.size());
      for (const Row& row : rows) {
        values.push_back(to_file(to_stored(std::invoke(access, row)), names));
      }
      return values;
    });
    if constexpr (std::is_lvalue_reference_v<std::invoke_result_t<Access, Row&>>) {
      get_.push_back([access](const Values& values, const Names& names, Row* row) {
        for (const auto value : std::get<std::vector<InFile<Stored>>>(values)) {
          if constexpr (std::is_same_v<Stored, std::string_view>) {
            std::invoke(access, *row++) = from_stored<Member>(names.at(value));
          } else {
            std::invoke(access, *row++) = from_stored<Member>(value);
          }
        }
      });
    }
    return *this;
  }

  /// Two columns, `<name>_offset` and `<name>_length`, for rows of the table `counted`.
  template <class Access>
  BoundTable& add_range(const std::string& name, const std::string& what, const TableKey& counted,
                        Access access) {
    const auto part = [access](std::uint64_t RowRange::*member) {
      return [=](auto& row) -> auto& { return std::invoke(access, row).*member; };
    };
    add(name + "_offset", "1", "first row of " + what, part(&RowRange::offset), counted);
    return add(name + "_length", "1", "number of rows of " + what, part(&RowRange::length));
  }

  const TableKey& key() const { return key_; }
  const std::vector<ColumnSpec>& columns() const { return columns_; }

  /// @param names that get the texts of the rows
  Table to_table(std::span<const Row> rows, Names& names) const {
    Table table{.key = key_, .columns = columns_, .values = {}};
    for (const auto& put : put_) table.values.push_back(put(rows, names));
    return table;
  }

  /// Members that are views are of `names`. @param values one for each column, of equal lengths
  std::vector<Row> to_rows(const std::vector<Values>& values, const Names& names) const {
    std::vector<Row> rows(values.empty() ? 0 : size_of(values.front()));
    for (std::size_t c = 0; c < get_.size(); ++c) get_[c](values.at(c), names, rows.data());
    return rows;
  }

 private:
  /// A text is a row of the names, all else as it is.
  template <class Stored>
  using InFile =
      std::conditional_t<std::is_same_v<Stored, std::string_view>, std::uint32_t, Stored>;

  template <class Stored>
  static InFile<Stored> to_file(const Stored& stored, Names& names) {
    if constexpr (std::is_same_v<Stored, std::string_view>) {
      return names.row_of(stored);
    } else {
      return stored;
    }
  }

  TableKey key_;
  std::vector<ColumnSpec> columns_;
  std::vector<std::function<Values(std::span<const Row>, Names&)>> put_;  // of each column
  std::vector<std::function<void(const Values&, const Names&, Row* first)>> get_;
};

/// A table of one column, whose rows are plain values.
template <class T>
BoundTable<T> value_table(TableKey key, std::string name, std::string units,
                          std::string long_name) {
  return BoundTable<T>(std::move(key))
      .add(std::move(name), std::move(units), std::move(long_name), std::identity{});
}

}  // namespace sonde
