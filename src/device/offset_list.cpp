// Lists have up to millions of offsets, and every probe has some: no sorting where a bit for each
// place does.
#include "device/offset_list.hpp"

#include "base/error.hpp"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <numeric>

namespace sonde {
namespace {

/// @param positions each below `places`
std::uint64_t count_distinct(std::vector<std::uint64_t> positions, std::uint64_t places) {
  constexpr std::uint64_t most_bits_per_position = 64;  // no more memory than the list itself
  if (places / most_bits_per_position <= positions.size()) {
    std::vector<bool> taken(places);
    for (const std::uint64_t position : positions) taken[position] = true;
    return static_cast<std::uint64_t>(std::ranges::count(taken, true));
  }
  std::ranges::sort(positions);
  const auto repeats = std::ranges::unique(positions);
  return positions.size() - repeats.size();
}

}  // namespace

OffsetShape shape_of(std::span<const std::uint64_t> offsets_bytes, std::uint64_t element_bytes) {
  require(!offsets_bytes.empty(), "a list of offsets is empty");
  const auto [lowest, highest] = std::ranges::minmax(offsets_bytes);
  std::uint64_t step = 0;
  for (const std::uint64_t offset : offsets_bytes) {
    if (step == 0 || (offset - lowest) % step != 0) step = std::gcd(step, offset - lowest);
  }
  OffsetShape shape{.footprint_bytes = highest - lowest + element_bytes,
                    .distinct_offsets = 1,
                    .steps = offsets_bytes.size(),
                    .stride_bytes = {}};
  if (step == 0) return shape;
  std::vector<std::uint64_t> positions;
  positions.reserve(offsets_bytes.size());
  for (const std::uint64_t offset : offsets_bytes) positions.push_back((offset - lowest) / step);
  const std::uint64_t places = (highest - lowest) / step + 1;
  shape.distinct_offsets = count_distinct(std::move(positions), places);
  if (shape.distinct_offsets == places) shape.stride_bytes = step;
  return shape;
}

void describe(const OffsetShape& shape, nlohmann::json& object) {
  object["footprint_bytes"] = shape.footprint_bytes;
  object["distinct_offsets"] = shape.distinct_offsets;
  object["steps"] = shape.steps;
  if (shape.stride_bytes) object["stride_bytes"] = *shape.stride_bytes;
}

void describe(const std::vector<OffsetShape>& shapes, nlohmann::json& object) {
  if (std::ranges::adjacent_find(shapes, std::ranges::not_equal_to{}) == shapes.end()) {
    if (!shapes.empty()) describe(shapes.front(), object);
    return;
  }
  nlohmann::json& lists = object["lists"] = nlohmann::json::array();
  for (const OffsetShape& shape : shapes) {
    nlohmann::json one;
    describe(shape, one);
    lists.push_back(std::move(one));
  }
}

}  // namespace sonde
