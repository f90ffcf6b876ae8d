// A list of offsets described by a few numbers: the file keeps these instead of the list.
#pragma once

#include <nlohmann/json_fwd.hpp>

#include <cstdint>
#include <optional>
#include <span>

namespace sonde {

struct OffsetShape {
  std::uint64_t footprint_bytes = 0;  // from the lowest offset to the end of the last element
  std::uint64_t distinct_offsets = 0;
  std::uint64_t steps = 0;  // offsets of one round, repeats included
  /// From one offset to the next higher one, if that is the same everywhere; unset otherwise, and
  /// for a single offset.
  std::optional<std::uint64_t> stride_bytes;

  bool operator==(const OffsetShape&) const = default;
};

/// @param offsets_bytes in any order, repeats allowed; not empty
/// @throws Error if it is empty
OffsetShape shape_of(std::span<const std::uint64_t> offsets_bytes, std::uint64_t element_bytes);

/// Adds the members of a shape to a JSON object, under their names; an unset stride is left out.
void describe(const OffsetShape& shape, nlohmann::json& object);

}  // namespace sonde
