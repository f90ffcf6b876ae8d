// What a list of offsets says in a few numbers: the file keeps these instead of the list.
#pragma once

#include <nlohmann/json_fwd.hpp>

#include <cstdint>
#include <optional>
#include <span>

namespace sonde {

struct OffsetShape {
  std::uint64_t footprint_bytes =
      0;  // from the lowest offset to the end of the highest one's element
  std::uint64_t distinct_offsets = 0;
  std::uint64_t steps = 0;  // of one round: repeats count
  /// From one offset to the next higher one, where it is the same everywhere; unset otherwise, and
  /// of a single offset.
  std::optional<std::uint64_t> stride_bytes;

  bool operator==(const OffsetShape&) const = default;
};

/// @param offsets_bytes in any order, repeats allowed; not empty
/// @throws Error if it is empty
OffsetShape shape_of(std::span<const std::uint64_t> offsets_bytes, std::uint64_t element_bytes);

/// Adds the members of a shape to a JSON object, under their names; an unset stride is left out.
void describe(const OffsetShape& shape, nlohmann::json& object);

}  // namespace sonde
