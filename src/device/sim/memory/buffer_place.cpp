// Draws where the buffer of a probe begins. Plays put it into the trace, and MemorySystem adds it
// to the offsets of the probe.
#include "device/sim/memory/buffer_place.hpp"

#include "base/random.hpp"

#include <algorithm>
#include <bit>

namespace sonde::sim {
namespace {

constexpr std::uint64_t largest_step_bytes = 512ULL << 20;  // the page-table window of the GTX 780
constexpr std::uint64_t fewest_offsets = 4;

/// What a buffer has to be aligned to, whatever the choice.
std::uint64_t least_step(const PageModel& pages) {
  std::uint64_t step_bytes =
      std::max({pages.page_bytes, pages.block_bytes, std::bit_ceil(pages.window_bytes)});
  for (std::size_t i = 0; i < pages.tlbs.size() + pages.path_tlbs.size(); ++i) {
    step_bytes = std::max(step_bytes, pages.tlb(i).line_bytes);
  }
  return step_bytes;
}

/// The largest step that leaves enough multiples, 0 included, in so many bytes.
std::uint64_t choose_step(std::uint64_t range_bytes, std::uint64_t least_bytes) {
  std::uint64_t step_bytes = std::max(largest_step_bytes, least_bytes);
  while (step_bytes > least_bytes && range_bytes / step_bytes < fewest_offsets) step_bytes /= 2;
  return step_bytes;
}

}  // namespace

std::uint64_t draw_buffer_offset(const Model& model, std::uint64_t seed_of_die, Place place,
                                 std::uint64_t buffer_bytes) {
  const std::uint64_t memory_bytes = model.device.memory_bytes;
  const std::uint64_t least_bytes = least_step(model.pages);
  Random random(derive_seed(seed_of_die, "place " + std::to_string(place)));
  const auto draw = [&](std::uint64_t range_bytes) {
    const std::uint64_t step_bytes = choose_step(range_bytes, least_bytes);
    return random.below(std::max<std::uint64_t>(1, range_bytes / step_bytes)) * step_bytes;
  };
  const std::uint64_t offset_bytes = draw(memory_bytes);
  const std::uint64_t spare_bytes = memory_bytes - std::min(memory_bytes, buffer_bytes);
  if (offset_bytes <= spare_bytes) return offset_bytes;
  // A buffer may begin at the end of what is spare, too.
  return draw(spare_bytes + least_bytes);
}

}  // namespace sonde::sim
