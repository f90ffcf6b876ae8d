// Columns in memory to bytes of the file and back.
#include "store/hdf5/table.hpp"

#include "base/error.hpp"

#include <algorithm>
#include <bit>
#include <concepts>
#include <cstring>
#include <limits>
#include <span>
#include <unordered_map>

namespace sonde {
namespace {

// HDF5 takes less than 64 KiB for all that it keeps with the value.
constexpr std::size_t most_constant_bytes = 4096;

// Columns are handed to HDF5 in the file's own types: parallel HDF5 writes collectively only
// where it need not convert.
static_assert(std::endian::native == std::endian::little, "the file's types are little-endian");

/// From elements of one width to those of another; all numbers are little-endian.
/// @param shift added to each
void refit_numbers(const PackedColumn& from, std::uint64_t shift, PackedColumn& to) {
  std::uint64_t lost = 0;
  const std::uint64_t rows = from.rows();
  with_width(from.element_bytes, [&]<class Old>(Old) {
    with_width(to.element_bytes, [&]<class New>(New) {
      for (std::uint64_t row = 0; row < rows; ++row) {
        const std::uint64_t value = element_at<Old>(from.bytes.data(), row) + shift;
        const auto fitted = static_cast<New>(value);
        lost |= value ^ fitted;
        std::memcpy(to.bytes.data() + row * sizeof(New), &fitted, sizeof(New));
      }
    });
  });
  require(lost == 0, "a number does not fit its column");
}

void refit_texts(const PackedColumn& from, PackedColumn& to) {
  const std::size_t both = std::min(from.element_bytes, to.element_bytes);
  for (std::uint64_t row = 0; row < from.rows(); ++row) {
    const std::byte* text = from.bytes.data() + row * from.element_bytes;
    const auto is_used = [](std::byte letter) { return letter != std::byte{}; };
    require(std::none_of(text + both, text + from.element_bytes, is_used),
            "a text is longer than its column");
    std::memcpy(to.bytes.data() + row * to.element_bytes, text, both);
  }
}

bool has_widths(ElementType type) {
  return type == ElementType::u32 || type == ElementType::u64 || type == ElementType::row;
}

template <class Stored, class T>
void copy_numbers(std::span<const T> from, std::byte* to) {
  T lost = 0;
  for (std::size_t i = 0; i < from.size(); ++i) {
    const auto value = static_cast<Stored>(from[i]);
    if constexpr (sizeof(Stored) < sizeof(T)) lost |= static_cast<T>(value) ^ from[i];
    std::memcpy(to + i * sizeof(Stored), &value, sizeof(Stored));
  }
  require(lost == 0, "a number does not fit its column");
}

/// Unsigned numbers in as many bytes as the column has.
template <std::unsigned_integral T>
void copy_narrow(std::span<const T> from, std::size_t width, std::byte* to) {
  switch (width) {
    case 2: return copy_numbers<std::uint16_t>(from, to);
    case 4: return copy_numbers<std::uint32_t>(from, to);
    case 8: return copy_numbers<std::uint64_t>(from, to);
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

/// The place among the names that a row has. @throws StoreError if that is beyond them
std::uint32_t place_at(const PackedColumn& column, std::uint64_t row, std::size_t names) {
  const std::uint32_t place = column.element_bytes == sizeof(std::uint16_t)
                                  ? element_at<std::uint16_t>(column.bytes.data(), row)
                                  : element_at<std::uint32_t>(column.bytes.data(), row);
  if (place >= names) throw StoreError("a row has a name that is not among the names of the file");
  return place;
}

PackedColumn pack_names(std::span<const std::string> texts) {
  PackedColumn packed{ElementType::name, sizeof(std::uint32_t),
                      std::vector<std::byte>(texts.size() * sizeof(std::uint32_t))};
  Names names;
  std::unordered_map<std::string_view, std::uint32_t> places;
  for (std::size_t i = 0; i < texts.size(); ++i) {
    const auto next = static_cast<std::uint32_t>(names.size());
    const auto [found, is_new] = places.try_emplace(texts[i], next);
    if (is_new) names.push_back(texts[i]);
    std::memcpy(packed.bytes.data() + i * sizeof(std::uint32_t), &found->second,
                sizeof(std::uint32_t));
  }
  packed.names = std::make_shared<const Names>(std::move(names));
  return packed;
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
    case ElementType::text:
    case ElementType::name: return std::vector<std::string>{};
  }
  throw Error("unknown element type");
}

std::size_t element_bytes(ElementType type, const Values& values) {
  if (type == ElementType::u32)
    return narrowest_bytes(std::get<std::vector<std::uint32_t>>(values));
  if (type == ElementType::u64)
    return narrowest_bytes(std::get<std::vector<std::uint64_t>>(values));
  if (type == ElementType::name) return sizeof(std::uint32_t);
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
  if (type == ElementType::name) {
    const std::string& text = std::get<std::vector<std::string>>(values).front();
    return {text.c_str(), text.c_str() + text.size() + 1};
  }
  const auto packed = pack(type, values, element_bytes(type, values), {0, 1});
  const auto* bytes = reinterpret_cast<const std::uint8_t*>(packed.bytes.data());
  return {bytes, bytes + packed.bytes.size()};
}

std::size_t name_bytes(std::size_t names) {
  return names <= std::size_t{1} << 16 ? sizeof(std::uint16_t) : sizeof(std::uint32_t);
}

PackedColumn pack(ElementType type, const Values& values, std::size_t width_bytes, RowRange rows) {
  require(rows.offset + rows.length <= size_of(values), "rows beyond the end of a column");
  if (type == ElementType::name) {
    return pack_names(
        std::span(std::get<std::vector<std::string>>(values)).subspan(rows.offset, rows.length));
  }
  PackedColumn packed{type, width_bytes, std::vector<std::byte>(rows.length * width_bytes)};
  if (rows.length == 0) return packed;
  std::visit(
      [&]<class T>(const std::vector<T>& column) {
        const auto from = std::span(column).subspan(rows.offset, rows.length);
        if constexpr (std::is_same_v<T, std::string>) {
          copy_text(from, width_bytes, packed.bytes.data());
        } else if constexpr (std::unsigned_integral<T> && sizeof(T) > 1) {
          copy_narrow(from, width_bytes, packed.bytes.data());
        } else {
          require(width_bytes == sizeof(T), "a column of another element size");
          std::memcpy(packed.bytes.data(), from.data(), from.size_bytes());
        }
      },
      values);
  return packed;
}

PackedColumn fit(PackedColumn column, std::size_t width_bytes, std::uint64_t shift) {
  if (column.element_bytes == width_bytes && shift == 0) return column;
  PackedColumn fitted{column.type, width_bytes,
                      std::vector<std::byte>(column.rows() * width_bytes)};
  if (column.type == ElementType::text) {
    refit_texts(column, fitted);
  } else {
    require(has_widths(column.type), "a column of another element size");
    refit_numbers(column, shift, fitted);
  }
  return fitted;
}

PackedColumn rename(const PackedColumn& column, std::span<const std::uint32_t> place,
                    std::size_t width_bytes) {
  PackedColumn renamed{column.type, width_bytes,
                       std::vector<std::byte>(column.rows() * width_bytes)};
  for (std::uint64_t row = 0; row < column.rows(); ++row) {
    const std::uint32_t to = place[place_at(column, row, place.size())];
    std::memcpy(renamed.bytes.data() + row * width_bytes, &to, width_bytes);
  }
  return renamed;
}

Values unpack(const PackedColumn& column, RowRange rows) {
  Values values = empty_values(column.type);
  std::visit(
      [&]<class T>(std::vector<T>& all) {
        all.resize(rows.length);
        for_each_value<T>(column, rows,
                          [to = all.data()](const auto& value) mutable { *to++ = value; });
      },
      values);
  return values;
}

Values unpack(const PackedColumn& column) { return unpack(column, {0, column.rows()}); }

std::string_view text_at(const PackedColumn& column, std::uint64_t row) {
  if (column.type == ElementType::name) {
    return column.names->at(place_at(column, row, column.names->size()));
  }
  const char* text =
      reinterpret_cast<const char*>(column.bytes.data()) + row * column.element_bytes;
  return {text, strnlen(text, column.element_bytes)};
}

PackedColumn pick(const PackedColumn& column, std::span<const std::uint64_t> rows) {
  const std::size_t width = column.element_bytes;
  PackedColumn picked{column.type, width, std::vector<std::byte>(rows.size() * width),
                      column.names};
  std::byte* to = picked.bytes.data();
  for (const std::uint64_t row : rows) {
    require(row < column.rows(), "a row beyond the end of a packed column");
    std::memcpy(to, column.bytes.data() + row * width, width);
    to += width;
  }
  return picked;
}

}  // namespace sonde
