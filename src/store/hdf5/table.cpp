// Columns in memory to bytes of the file and back.
#include "store/hdf5/table.hpp"

#include "base/error.hpp"

#include <algorithm>
#include <bit>
#include <concepts>
#include <cstring>
#include <limits>
#include <span>

namespace sonde {
namespace {

// HDF5 takes less than 64 KiB for all that it keeps with the value.
constexpr std::size_t most_constant_bytes = 4096;

// Columns are handed to HDF5 in the file's own types: parallel HDF5 writes collectively only
// where it need not convert.
static_assert(std::endian::native == std::endian::little, "the file's types are little-endian");

template <class Stored, class T>
void copy_numbers(std::span<const T> from, std::uint64_t shift, std::byte* to) {
  T lost = 0;
  for (std::size_t i = 0; i < from.size(); ++i) {
    const T shifted = from[i] + static_cast<T>(shift);
    const auto value = static_cast<Stored>(shifted);
    if constexpr (sizeof(Stored) < sizeof(T)) lost |= static_cast<T>(value) ^ shifted;
    std::memcpy(to + i * sizeof(Stored), &value, sizeof(Stored));
  }
  require(lost == 0, "a number does not fit its column");
}

/// Unsigned numbers in as many bytes as the column has.
template <std::unsigned_integral T>
void copy_narrow(std::span<const T> from, std::size_t width, std::uint64_t shift, std::byte* to) {
  switch (width) {
    case 2: return copy_numbers<std::uint16_t>(from, shift, to);
    case 4: return copy_numbers<std::uint32_t>(from, shift, to);
    case 8: return copy_numbers<std::uint64_t>(from, shift, to);
    default: throw Error("a column of an unknown element size");
  }
}

template <class T>
std::size_t narrowest_bytes(const std::vector<T>& values) {
  std::uint64_t all = 0;  // has the highest bit of the largest value
  for (const T value : values) all |= value;
  if (all <= std::numeric_limits<std::uint16_t>::max()) return 2;
  return all <= std::numeric_limits<std::uint32_t>::max() ? 4 : 8;
}

/// To the last bit: NaN is NaN, and 0 is not -0.
template <class T>
bool are_equal(const std::vector<T>& values) {
  const auto differs = [&first = values.front()](const T& value) {
    if constexpr (std::is_same_v<T, double>) {
      return std::bit_cast<std::uint64_t>(value) != std::bit_cast<std::uint64_t>(first);
    } else {
      return value != first;
    }
  };
  return std::ranges::none_of(values, differs);
}

void copy_text(std::span<const std::string> from, std::size_t width, std::byte* to) {
  for (std::size_t i = 0; i < from.size(); ++i) {
    require(from[i].size() <= width, "a text is longer than its column");
    std::memcpy(to + i * width, from[i].data(), from[i].size());
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
    case ElementType::u32: return std::vector<std::uint32_t>{};
    case ElementType::u64:
    case ElementType::row: return std::vector<std::uint64_t>{};
    case ElementType::i32: return std::vector<std::int32_t>{};
    case ElementType::i64: return std::vector<std::int64_t>{};
    case ElementType::f64: return std::vector<double>{};
    case ElementType::text: return std::vector<std::string>{};
  }
  throw Error("unknown element type");
}

std::size_t element_bytes(ElementType type, const Values& values) {
  if (type == ElementType::u32)
    return narrowest_bytes(std::get<std::vector<std::uint32_t>>(values));
  if (type == ElementType::u64)
    return narrowest_bytes(std::get<std::vector<std::uint64_t>>(values));
  if (type == ElementType::text) {
    std::size_t longest = 2;  // xarray takes columns of one-byte texts for letters of one text
    for (const auto& text : std::get<std::vector<std::string>>(values)) {
      longest = std::max(longest, text.size());
    }
    return longest;
  }
  return std::visit([]<class T>(const std::vector<T>&) { return sizeof(T); }, values);
}

std::vector<std::uint8_t> constant_of(ElementType type, const Values& values) {
  const bool constant =
      std::visit([](const auto& column) { return !column.empty() && are_equal(column); }, values);
  if (!constant || element_bytes(type, values) > most_constant_bytes) return {};
  const auto packed = pack(values, element_bytes(type, values), 0, 1, 0);
  const auto* bytes = reinterpret_cast<const std::uint8_t*>(packed.data());
  return {bytes, bytes + packed.size()};
}

std::vector<std::byte> pack(const Values& values, std::size_t width_bytes, std::uint64_t first,
                            std::uint64_t count, std::uint64_t shift) {
  require(first + count <= size_of(values), "rows beyond the end of a column");
  std::vector<std::byte> bytes(count * width_bytes);
  if (count == 0) return bytes;
  std::visit(
      [&]<class T>(const std::vector<T>& column) {
        const auto from = std::span(column).subspan(first, count);
        if constexpr (std::is_same_v<T, std::string>) {
          copy_text(from, width_bytes, bytes.data());
        } else if constexpr (std::unsigned_integral<T> && sizeof(T) > 1) {
          copy_narrow(from, width_bytes, shift, bytes.data());
        } else {
          require(width_bytes == sizeof(T), "a column of another element size");
          std::memcpy(bytes.data(), from.data(), from.size_bytes());
        }
      },
      values);
  return bytes;
}

Values unpack(const PackedColumn& packed, RowRange rows) {
  const std::size_t width = packed.element_bytes;
  require(rows.offset + rows.length <= packed.rows(), "rows beyond the end of a packed column");
  Values values = empty_values(packed.type);
  std::visit(
      [&]<class T>(std::vector<T>& column) {
        column.resize(rows.length);
        const std::byte* from = packed.bytes.data() + rows.offset * width;
        for (T& value : column) {
          if constexpr (std::is_same_v<T, std::string>) {
            const char* text = reinterpret_cast<const char*>(from);
            value.assign(text, strnlen(text, width));
          } else {  // narrow numbers fill the lower bytes
            std::memcpy(&value, from, width);
          }
          from += width;
        }
      },
      values);
  return values;
}

Values unpack(const PackedColumn& column) { return unpack(column, {0, column.rows()}); }

std::string_view text_at(const PackedColumn& column, std::uint64_t row) {
  const char* text =
      reinterpret_cast<const char*>(column.bytes.data()) + row * column.element_bytes;
  return {text, strnlen(text, column.element_bytes)};
}

PackedColumn pick(const PackedColumn& column, std::span<const std::uint64_t> rows) {
  const std::size_t width = column.element_bytes;
  PackedColumn picked{column.type, width, std::vector<std::byte>(rows.size() * width)};
  std::byte* to = picked.bytes.data();
  for (const std::uint64_t row : rows) {
    require(row < column.rows(), "a row beyond the end of a packed column");
    std::memcpy(to, column.bytes.data() + row * width, width);
    to += width;
  }
  return picked;
}

}  // namespace sonde
