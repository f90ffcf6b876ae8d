// Tables as the file keeps them: equally long columns over one dimension, in one group. Pure; the
// way from results to tables is rows.hpp and flatten.hpp, the way to HDF5 is table_file.hpp.
#pragma once

#include <compare>
#include <cstddef>
#include <cstdint>
#include <string>
#include <variant>
#include <vector>

namespace sonde {

/// One dimension of one group, for example "jobs/cache.l1/traces" and "lane".
struct TableKey {
  std::string group;
  std::string dimension;
  auto operator<=>(const TableKey&) const = default;
};

/// Element types of the file, all little-endian. `cycles`: u32 in memory, u16 in the file where all
/// values fit. `text`: UTF-8 of a fixed number of bytes, padded with zeros.
enum class ElementType { u8, cycles, u64, i32, i64, f64, text };

/// What a column is, whatever it holds.
struct ColumnSpec {
  std::string name;
  std::string units;  // "1": a plain number; "": text
  std::string long_name;
  ElementType type = ElementType::u64;
  TableKey
      counts{};  // if set: an index into that table, which grows by the rows of earlier devices
};

using Values =
    std::variant<std::vector<std::uint8_t>, std::vector<std::uint32_t>, std::vector<std::uint64_t>,
                 std::vector<std::int32_t>, std::vector<std::int64_t>, std::vector<double>,
                 std::vector<std::string>>;

struct Table {
  TableKey key;
  std::vector<ColumnSpec> columns;
  std::vector<Values> values;  // one per column, all of the same length

  std::uint64_t rows() const;
};

/// An empty column for that type.
Values empty_values(ElementType type);

std::uint64_t size_of(const Values& values);

/// Bytes that one element needs in the file: the longest text (at least 2), 2 or 4 for cycles.
std::size_t element_bytes(ElementType type, const Values& values);

/// Elements [first, first + count) as the file keeps them, `shift` added to each (u64 only).
/// @throws Error if a text or a number of cycles does not fit `width_bytes`
std::vector<std::byte> pack(ElementType type, const Values& values, std::size_t width_bytes,
                            std::uint64_t first, std::uint64_t count, std::uint64_t shift);

/// The reverse, without a shift.
Values unpack(ElementType type, const std::vector<std::byte>& bytes, std::size_t width_bytes);

}  // namespace sonde
