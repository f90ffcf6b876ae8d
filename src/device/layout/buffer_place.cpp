// Draws the place of a buffer: the same seed and place give the same offset.
#include "device/layout/buffer_place.hpp"

#include "base/gpu_facts.hpp"
#include "base/random.hpp"

#include <string>

namespace sonde::layout {
namespace {

/// With fewer places a draw would hardly vary.
constexpr std::uint64_t fewest_places = 8;

}  // namespace

std::optional<std::uint64_t> place_buffer(std::uint64_t seed, Place place,
                                          std::uint64_t buffer_bytes, std::uint64_t memory_bytes) {
  if (buffer_bytes > memory_bytes) return std::nullopt;
  const std::uint64_t room_bytes = memory_bytes - buffer_bytes;
  std::uint64_t step_bytes = widest_place_bytes;
  while (step_bytes > large_page_bytes && room_bytes / step_bytes + 1 < fewest_places) {
    step_bytes /= 2;
  }
  Random random(derive_seed(seed, "place " + std::to_string(place)));
  return random.below(room_bytes / step_bytes + 1) * step_bytes;
}

}  // namespace sonde::layout
