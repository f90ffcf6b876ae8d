// Columns in memory.
#include "store/hdf5/table.hpp"

#include <bit>
#include <concepts>
#include <limits>
#include <type_traits>

namespace sonde {
namespace {

// Columns are handed to HDF5 in the file's own types: parallel HDF5 writes collectively only where
// it need not convert.
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

std::uint64_t size_of(const Values& values) {
  return std::visit([](const auto& column) { return std::uint64_t{column.size()}; }, values);
}

std::uint64_t Table::rows() const { return values.empty() ? 0 : size_of(values.front()); }

Values empty_values(ElementType type) {
  switch (type) {
    case ElementType::u8: return std::vector<std::uint8_t>{};
    case ElementType::u32:
    case ElementType::text: return std::vector<std::uint32_t>{};
    case ElementType::u64:
    case ElementType::row: return std::vector<std::uint64_t>{};
    case ElementType::i32: return std::vector<std::int32_t>{};
    case ElementType::i64: return std::vector<std::int64_t>{};
    case ElementType::f64: return std::vector<double>{};
  }
  throw Error("unknown element type");
}

std::size_t element_bytes(const Values& values) {
  return std::visit([]<class T>(const std::vector<T>&) { return sizeof(T); }, values);
}

const std::byte* bytes_of(const Values& values) {
  return std::visit(
      [](const auto& column) { return reinterpret_cast<const std::byte*>(column.data()); }, values);
}

void* resize(Values& values, std::uint64_t rows) {
  return std::visit(
      [rows](auto& column) -> void* {
        column.resize(rows);
        return column.data();
      },
      values);
}

void append(Values& to, const Values& more) {
  std::visit(
      [&more]<class T>(std::vector<T>& column) {
        const auto& added = std::get<std::vector<T>>(more);
        column.insert(column.end(), added.begin(), added.end());
      },
      to);
}

Values take_front(Values& values, std::uint64_t rows) {
  return std::visit(
      [rows]<class T>(std::vector<T>& column) -> Values {
        const auto end = column.begin() + static_cast<std::ptrdiff_t>(rows);
        std::vector<T> front(column.begin(), end);
        column.erase(column.begin(), end);
        return front;
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
  std::uint64_t left = bytes.size();  // texts that share their bytes would be copied without bound
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

}  // namespace sonde
