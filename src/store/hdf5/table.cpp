#include "store/hdf5/table.hpp"

#include "base/error.hpp"

#include <algorithm>
#include <bit>
#include <concepts>
#include <iterator>
#include <limits>

namespace sonde {
namespace {

// Types in memory are those of the file: parallel HDF5 writes collectively only without conversion.
static_assert(std::endian::native == std::endian::little, "the file's types are little-endian");

template <std::unsigned_integral T>
void shift_numbers(std::vector<T>& column, std::uint64_t by) {
  for (T& value : column) {
    require(by <= std::numeric_limits<T>::max() - value,
            "the number of a row does not fit its column");
    value += static_cast<T>(by);
  }
}

}  // namespace

std::uint64_t Table::rows() const {
  if (columns.empty()) return 0;
  return std::visit([](const auto& column) { return column.size(); }, columns.front().values);
}

Table empty_copy(const Table& table) {
  Table empty{table.key, {}};
  for (const Column& column : table.columns) {
    const Values none = std::visit([]<class T>(const T&) { return Values(T()); }, column.values);
    empty.columns.push_back({column.name, column.units, column.long_name, none, column.counts});
  }
  return empty;
}

std::size_t element_bytes(const Values& values) {
  return std::visit([]<class T>(const std::vector<T>&) { return sizeof(T); }, values);
}

std::span<const std::byte> bytes_of(const Values& values) {
  return std::visit([](const auto& column) { return std::as_bytes(std::span(column)); }, values);
}

std::span<std::byte> resize(Values& values, std::uint64_t rows) {
  return std::visit(
      [rows](auto& column) {
        column.resize(rows);
        return std::as_writable_bytes(std::span(column));
      },
      values);
}

void append(Values& to, Values more) {
  std::visit(
      [&more]<class T>(std::vector<T>& column) {
        auto& added = std::get<std::vector<T>>(more);
        if (column.empty()) return column.swap(added);
        column.insert(column.end(), added.begin(), added.end());
      },
      to);
}

void drop_front(Values& values, std::uint64_t rows) {
  std::visit(
      [rows](auto& column) {
        column.erase(column.begin(), column.begin() + static_cast<std::ptrdiff_t>(rows));
      },
      values);
}

void shift(Values& values, std::uint64_t by) {
  if (by == 0) return;
  if (auto* texts = std::get_if<std::vector<std::uint32_t>>(&values))
    return shift_numbers(*texts, by);
  shift_numbers(std::get<std::vector<std::uint64_t>>(values), by);
}

Names::Names(const std::vector<std::uint64_t>& offsets, const std::vector<std::uint32_t>& lengths,
             const std::vector<std::uint8_t>& bytes) {
  const auto* text = reinterpret_cast<const char*>(bytes.data());
  std::uint64_t left = bytes.size();  // texts may not share bytes: copies could grow without bound
  for (std::size_t i = 0; i < offsets.size(); ++i) {
    if (lengths.at(i) > left || offsets[i] > bytes.size() - lengths[i]) {
      throw StoreError("a name lies beyond the bytes of all names");
    }
    left -= lengths[i];
    texts_.emplace_back(text + offsets[i], lengths[i]);
  }
}

std::uint32_t Names::row_of(std::string_view text) {
  const auto found = rows_.find(text);
  if (found != rows_.end()) return found->second;
  const auto row = static_cast<std::uint32_t>(texts_.size());
  require(texts_.size() < std::numeric_limits<std::uint32_t>::max(),
          "more texts than a file takes");
  return rows_.emplace(texts_.emplace_back(text), row).first->second;
}

std::string_view Names::at(std::uint32_t row) const {
  if (row >= texts_.size()) {
    throw StoreError("a row has a name that is not among the names of the file");
  }
  return texts_[row];
}

std::vector<Table> Names::tables() const {
  const TableKey bytes_key{names_key.group, "text_byte"};
  std::vector<std::uint64_t> offsets;
  std::vector<std::uint32_t> lengths;
  std::vector<std::uint8_t> bytes;
  for (const std::string& text : texts_) {
    offsets.push_back(bytes.size());
    lengths.push_back(static_cast<std::uint32_t>(text.size()));
    bytes.insert(bytes.end(), text.begin(), text.end());
  }
  return {{names_key,
           {{"text_offset", "1", "first byte in text_bytes", std::move(offsets), bytes_key},
            {"text_length", "1", "number of bytes", std::move(lengths)}}},
          {bytes_key, {{"text_bytes", "1", "UTF-8 of all texts", std::move(bytes)}}}};
}

std::vector<Table> with_names(std::vector<Table> tables, const Names& names) {
  std::ranges::move(names.tables(), std::back_inserter(tables));
  return tables;
}

}  // namespace sonde
