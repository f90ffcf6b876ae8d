// Where the memory lies among the addresses that programs see, and buffers in the memory.
#include "device/sim/model/memory_place.hpp"

#include "base/random.hpp"

#include <algorithm>
#include <bit>
#include <numeric>

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

std::uint64_t odd_part(std::uint64_t number) { return number >> std::countr_zero(number); }

/// After so many bytes, but for a power of two, a modulo index begins anew. What fits into sets of
/// unequal width depends on where in that period a buffer begins; otherwise 1.
std::uint64_t odd_period(const CacheModel& cache) {
  std::uint64_t period = 1;
  for (const Geometry& geometry : cache.geometries) {
    const std::uint64_t sets = geometry.ways_per_set.size();
    if (geometry.index.kind != DeclaredIndex::Kind::modulo ||
        geometry.lines() == sets * geometry.most_ways()) {
      continue;
    }
    period = std::lcm(period, odd_part(geometry.index.granularity_bytes * sets));
  }
  return period;
}

/// Steps from which a place is drawn: `odd` times a power of two.
struct Steps {
  std::uint64_t odd = 1;
  std::uint64_t least_bytes = 0;

  /// The largest that leaves enough multiples, 0 included, in so many bytes.
  std::uint64_t choose(std::uint64_t range_bytes) const {
    std::uint64_t step_bytes = std::max(largest_step_bytes, least_bytes);
    while (step_bytes > least_bytes && range_bytes / odd / step_bytes < fewest_offsets) {
      step_bytes /= 2;
    }
    return odd * step_bytes;
  }
};

/// Periods of indexes count as far as they leave a choice in so many bytes.
Steps steps_of(const Model& model, std::uint64_t range_bytes) {
  Steps steps{.least_bytes = least_step(model.pages)};
  const auto heed = [&](const CacheModel& cache) {
    const std::uint64_t odd = std::lcm(steps.odd, odd_period(cache));
    const std::uint64_t most = range_bytes / steps.least_bytes / fewest_offsets;
    if (odd <= most) steps.odd = odd;
  };
  std::ranges::for_each(model.caches, heed);
  std::ranges::for_each(model.pages.tlbs, heed);
  return steps;
}

}  // namespace

std::uint64_t draw_memory_address(const Model& model, std::uint64_t seed_of_die) {
  constexpr std::uint64_t address_space_bytes = 1ULL << 47;  // of a process on x86-64
  Steps steps = steps_of(model, address_space_bytes);
  // As published of the TLBs of Fermi and Kepler: the memory begins where their tables do.
  for (const CacheModel& tlb : model.pages.tlbs)
    for (const Geometry& geometry : tlb.geometries)
      if (geometry.index.kind == DeclaredIndex::Kind::table)
        steps.odd = std::lcm(steps.odd, odd_part(geometry.index.table.size()));
  const std::uint64_t step_bytes = steps.choose(address_space_bytes);
  Random random(derive_seed(seed_of_die, "address of the memory"));
  return random.below((address_space_bytes - model.device.memory_bytes) / step_bytes) * step_bytes;
}

std::uint64_t draw_buffer_offset(const Model& model, std::uint64_t seed_of_die, Place place,
                                 std::uint64_t buffer_bytes) {
  const std::uint64_t memory_bytes = model.device.memory_bytes;
  const Steps steps = steps_of(model, memory_bytes);
  Random random(derive_seed(seed_of_die, "place " + std::to_string(place)));
  const auto draw = [&](std::uint64_t range_bytes) {
    const std::uint64_t step_bytes = steps.choose(range_bytes);
    return random.below(std::max<std::uint64_t>(1, range_bytes / step_bytes)) * step_bytes;
  };
  const std::uint64_t offset_bytes = draw(memory_bytes);
  const std::uint64_t spare_bytes = memory_bytes - std::min(memory_bytes, buffer_bytes);
  if (offset_bytes <= spare_bytes) return offset_bytes;
  return draw(spare_bytes);
}

}  // namespace sonde::sim
