// Lists have up to millions of offsets, and every chase has some: avoids sorting where a bit for
// each place is enough.
#include "device/probe/offset_list.hpp"

#include "base/error.hpp"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <bit>
#include <numeric>

namespace sonde {
namespace {

/// @param positions each below `places`
std::uint64_t count_distinct(const std::vector<std::uint64_t>& positions, std::uint64_t places) {
  constexpr std::uint64_t word_bits = 64;
  if (places / word_bits <= positions.size()) {  // no more memory than the list itself
    std::vector<std::uint64_t> taken(places / word_bits + 1);
    for (const std::uint64_t position : positions) {
      taken[position / word_bits] |= std::uint64_t{1} << (position % word_bits);
    }
    std::uint64_t count = 0;
    for (const std::uint64_t word : taken) count += static_cast<std::uint64_t>(std::popcount(word));
    return count;
  }
  std::vector<std::uint64_t> sorted = positions;
  std::ranges::sort(sorted);
  return static_cast<std::uint64_t>(std::ranges::unique(sorted).begin() - sorted.begin());
}

/// The greatest common divisor: an odd number times a power of two.
struct Step {
  std::uint64_t odd = 0;
  int shift = 0;
  std::uint64_t bytes() const { return odd << shift; }
};

/// The greatest common divisor of all distances to `lowest`; 0 if there are none. It divides
/// rarely: nearly all lists have a power of two, which a few distances show.
Step common_step(std::span<const std::uint64_t> offsets_bytes, std::uint64_t lowest) {
  std::uint64_t bits = 0;
  for (const std::uint64_t offset : offsets_bytes) bits |= offset - lowest;
  if (bits == 0) return {};
  Step step{.odd = 0, .shift = std::countr_zero(bits)};
  for (const std::uint64_t offset : offsets_bytes) {
    const std::uint64_t distance = (offset - lowest) >> step.shift;
    if (step.odd == 0 || distance % step.odd != 0) step.odd = std::gcd(step.odd, distance);
    if (step.odd == 1) break;
  }
  return step;
}

}  // namespace

OffsetShape shape_of(std::span<const std::uint64_t> offsets_bytes, std::uint64_t element_bytes) {
  require(!offsets_bytes.empty(), "a list of offsets is empty");
  const auto [lowest, highest] = std::ranges::minmax(offsets_bytes);
  const Step step = common_step(offsets_bytes, lowest);
  OffsetShape shape{.footprint_bytes = highest - lowest + element_bytes,
                    .distinct_offsets = 1,
                    .steps = offsets_bytes.size(),
                    .stride_bytes = {}};
  if (step.odd == 0) return shape;
  std::vector<std::uint64_t> positions;
  positions.reserve(offsets_bytes.size());
  for (const std::uint64_t offset : offsets_bytes) {
    const std::uint64_t distance = (offset - lowest) >> step.shift;
    positions.push_back(step.odd == 1 ? distance : distance / step.odd);
  }
  const std::uint64_t places = (highest - lowest) / step.bytes() + 1;
  shape.distinct_offsets = count_distinct(positions, places);
  if (shape.distinct_offsets == places) shape.stride_bytes = step.bytes();
  return shape;
}

void describe(const OffsetShape& shape, nlohmann::json& object) {
  object["footprint_bytes"] = shape.footprint_bytes;
  object["distinct_offsets"] = shape.distinct_offsets;
  object["steps"] = shape.steps;
  if (shape.stride_bytes) object["stride_bytes"] = *shape.stride_bytes;
}

}  // namespace sonde
