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

void copy_text(const std::string* from, std::uint64_t count, std::size_t width, std::byte* to) {
  for (std::uint64_t i = 0; i < count; ++i) {
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
    case ElementType::cycles: return std::vector<std::uint32_t>{};
    case ElementType::u64: return std::vector<std::uint64_t>{};
    case ElementType::i32: return std::vector<std::int32_t>{};
    case ElementType::i64: return std::vector<std::int64_t>{};
    case ElementType::f64: return std::vector<double>{};
    case ElementType::text: return std::vector<std::string>{};
  }
  throw Error("unknown element type");
}

std::size_t element_bytes(ElementType type, const Values& values) {
  if (type == ElementType::cycles) {
    constexpr std::uint32_t longest = std::numeric_limits<std::uint16_t>::max();
    const auto fits = [](std::uint32_t value) { return value <= longest; };
    return std::ranges::all_of(std::get<std::vector<std::uint32_t>>(values), fits) ? 2 : 4;
  }
  if (type == ElementType::text) {
    std::size_t longest = 2;  // xarray takes columns of one-byte texts for letters of one text
    for (const auto& text : std::get<std::vector<std::string>>(values)) {
      longest = std::max(longest, text.size());
    }
    return longest;
  }
  return std::visit([]<class T>(const std::vector<T>&) { return sizeof(T); }, values);
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
  Values values = empty_values(type);
  std::visit(
      [&]<class T>(std::vector<T>& column) {
        column.resize(bytes.size() / width_bytes);
        for (std::size_t i = 0; i < column.size(); ++i) {
          const std::byte* from = bytes.data() + i * width_bytes;
          if constexpr (std::is_same_v<T, std::string>) {
            const char* text = reinterpret_cast<const char*>(from);
            column[i].assign(text, std::find(text, text + width_bytes, '\0'));
          } else {  // short cycles fill the lower bytes
            std::memcpy(&column[i], from, width_bytes);
          }
        }
      },
      values);
  return values;
}

}  // namespace sonde
