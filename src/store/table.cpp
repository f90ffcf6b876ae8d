// Columns in memory to bytes of the file and back.
#include "store/table.hpp"

#include "base/error.hpp"

#include <algorithm>
#include <bit>
#include <cstring>
#include <limits>

namespace sonde {
namespace {

// Columns are handed to HDF5 in the file's own types: parallel HDF5 writes collectively only
// where it need not convert.
static_assert(std::endian::native == std::endian::little, "the file's types are little-endian");

template <class Stored, class T>
void copy_numbers(const T* from, std::uint64_t count, std::uint64_t shift, std::byte* to) {
  for (std::uint64_t i = 0; i < count; ++i) {
    auto value = static_cast<Stored>(from[i]);
    if constexpr (std::is_same_v<Stored, std::uint64_t>) value += shift;
    std::memcpy(to + i * sizeof(Stored), &value, sizeof(Stored));
  }
}

template <class T>
Values copy_back(const std::vector<std::byte>& bytes) {
  std::vector<T> values(bytes.size() / sizeof(T));
  if (!values.empty()) std::memcpy(values.data(), bytes.data(), values.size() * sizeof(T));
  return values;
}

void copy_text(const std::string* from, std::uint64_t count, std::size_t width, std::byte* to) {
  for (std::uint64_t i = 0; i < count; ++i) {
    require(from[i].size() <= width, "a text is longer than its column");
    std::memcpy(to + i * width, from[i].data(), from[i].size());
  }
}

Values text_back(const std::vector<std::byte>& bytes, std::size_t width) {
  std::vector<std::string> values(bytes.size() / width);
  for (std::size_t i = 0; i < values.size(); ++i) {
    const char* text = reinterpret_cast<const char*>(bytes.data() + i * width);
    values[i].assign(text, std::find(text, text + width, '\0'));
  }
  return values;
}

Values short_cycles_back(const std::vector<std::byte>& bytes) {
  std::vector<std::uint32_t> values(bytes.size() / sizeof(std::uint16_t));
  for (std::size_t i = 0; i < values.size(); ++i) {
    std::uint16_t value = 0;
    std::memcpy(&value, bytes.data() + i * sizeof(value), sizeof(value));
    values[i] = value;
  }
  return values;
}

}  // namespace

std::uint64_t size_of(const Values& values) {
  return std::visit([](const auto& column) { return std::uint64_t{column.size()}; }, values);
}

std::uint64_t Table::rows() const { return values.empty() ? 0 : size_of(values.front()); }

Values empty_values(ElementType type) {
  switch (type) {
    case ElementType::u8: return std::vector<std::uint8_t>{};
    case ElementType::cycles:
    case ElementType::u32: return std::vector<std::uint32_t>{};
    case ElementType::u64: return std::vector<std::uint64_t>{};
    case ElementType::i32: return std::vector<std::int32_t>{};
    case ElementType::i64: return std::vector<std::int64_t>{};
    case ElementType::f64: return std::vector<double>{};
    case ElementType::text: return std::vector<std::string>{};
  }
  throw Error("unknown element type");
}

std::size_t element_bytes(ElementType type, const Values& values) {
  switch (type) {
    case ElementType::u8: return 1;
    case ElementType::u32:
    case ElementType::i32: return 4;
    case ElementType::u64:
    case ElementType::i64:
    case ElementType::f64: return 8;
    case ElementType::cycles: {
      const auto& cycles = std::get<std::vector<std::uint32_t>>(values);
      constexpr std::uint32_t longest = std::numeric_limits<std::uint16_t>::max();
      return std::ranges::all_of(cycles, [](auto value) { return value <= longest; }) ? 2 : 4;
    }
    case ElementType::text: {
      std::size_t longest = 2;  // xarray takes columns of one-byte texts for letters of one text
      for (const auto& text : std::get<std::vector<std::string>>(values)) {
        longest = std::max(longest, text.size());
      }
      return longest;
    }
  }
  throw Error("unknown element type");
}

std::vector<std::byte> pack(ElementType type, const Values& values, std::size_t width_bytes,
                            std::uint64_t first, std::uint64_t count, std::uint64_t shift) {
  require(first + count <= size_of(values), "rows beyond the end of a column");
  std::vector<std::byte> bytes(count * width_bytes);
  if (count == 0) return bytes;
  std::visit(
      [&](const auto& column) {
        using T = typename std::remove_cvref_t<decltype(column)>::value_type;
        if constexpr (std::is_same_v<T, std::string>) {
          copy_text(column.data() + first, count, width_bytes, bytes.data());
        } else if (width_bytes == 2) {
          require(element_bytes(type, values) == 2, "cycles do not fit two bytes");
          copy_numbers<std::uint16_t>(column.data() + first, count, 0, bytes.data());
        } else {
          require(width_bytes == sizeof(T), "a column of another element size");
          copy_numbers<T>(column.data() + first, count, shift, bytes.data());
        }
      },
      values);
  return bytes;
}

Values unpack(ElementType type, const std::vector<std::byte>& bytes, std::size_t width_bytes) {
  switch (type) {
    case ElementType::u8: return copy_back<std::uint8_t>(bytes);
    case ElementType::cycles:
      return width_bytes == 2 ? short_cycles_back(bytes) : copy_back<std::uint32_t>(bytes);
    case ElementType::u32: return copy_back<std::uint32_t>(bytes);
    case ElementType::u64: return copy_back<std::uint64_t>(bytes);
    case ElementType::i32: return copy_back<std::int32_t>(bytes);
    case ElementType::i64: return copy_back<std::int64_t>(bytes);
    case ElementType::f64: return copy_back<double>(bytes);
    case ElementType::text: return text_back(bytes, width_bytes);
  }
  throw Error("unknown element type");
}

}  // namespace sonde
