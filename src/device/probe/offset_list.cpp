// Lists have up to millions of offsets, and every chase has some: avoids sorting and dividing.
#include "device/probe/offset_list.hpp"

#include "base/error.hpp"
#include "base/random.hpp"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <bit>

namespace sonde {
namespace {

/// A set of numbers below `limit`: a bit for each, or a hash table with linear probing if the bits
/// would take more memory than `count` numbers.
class NumberSet {
 public:
  NumberSet(std::uint64_t limit, std::uint64_t count)
      : bits_(limit / word_bits <= count ? limit / word_bits + 1 : 0),
        slots_(bits_.empty() ? std::bit_ceil(2 * count) : 0, free) {}

  /// @return whether it is new
  bool insert(std::uint64_t number) {
    if (!bits_.empty()) {
      std::uint64_t& word = bits_[number / word_bits];
      const std::uint64_t bit = std::uint64_t{1} << (number % word_bits);
      const bool is_new = (word & bit) == 0;
      word |= bit;
      return is_new;
    }
    const std::size_t last = slots_.size() - 1;
    std::size_t at = mix_bits(number) & last;
    while (slots_[at] != free && slots_[at] != number) at = (at + 1) & last;
    const bool is_new = slots_[at] == free;
    slots_[at] = number;
    return is_new;
  }

 private:
  static constexpr std::uint64_t word_bits = 64;
  static constexpr std::uint64_t free = ~std::uint64_t{0};
  std::vector<std::uint64_t> bits_;
  std::vector<std::uint64_t> slots_;
};

}  // namespace

OffsetShape shape_of(std::span<const std::uint64_t> offsets_bytes, std::uint64_t element_bytes) {
  require(!offsets_bytes.empty(), "a list of offsets is empty");
  const auto [lowest, highest] = std::ranges::minmax(offsets_bytes);
  const std::uint64_t span_bytes = highest - lowest;
  OffsetShape shape{.footprint_bytes = span_bytes + element_bytes,
                    .distinct_offsets = 1,
                    .steps = offsets_bytes.size(),
                    .stride_bytes = {}};
  if (span_bytes == 0) return shape;
  std::uint64_t all_bits = 0;
  for (const std::uint64_t offset : offsets_bytes) all_bits |= offset - lowest;
  const int shift = std::countr_zero(all_bits);
  NumberSet seen((span_bytes >> shift) + 1, offsets_bytes.size());
  shape.distinct_offsets = 0;
  for (const std::uint64_t offset : offsets_bytes)
    shape.distinct_offsets += seen.insert((offset - lowest) >> shift);
  // The only stride that equal distances can have. Most lists have a power of two, which the
  // common zero bits show.
  const std::uint64_t stride_bytes = span_bytes / (shape.distinct_offsets - 1);
  const auto is_on_grid = [&](std::uint64_t offset) {
    return (offset - lowest) % stride_bytes == 0;
  };
  if (stride_bytes * (shape.distinct_offsets - 1) == span_bytes &&
      (stride_bytes == std::uint64_t{1} << shift || std::ranges::all_of(offsets_bytes, is_on_grid)))
    shape.stride_bytes = stride_bytes;
  return shape;
}

void describe(const OffsetShape& shape, nlohmann::json& object) {
  object["footprint_bytes"] = shape.footprint_bytes;
  object["distinct_offsets"] = shape.distinct_offsets;
  object["steps"] = shape.steps;
  if (shape.stride_bytes) object["stride_bytes"] = *shape.stride_bytes;
}

}  // namespace sonde
