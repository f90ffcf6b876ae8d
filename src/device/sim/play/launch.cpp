// Checks that all plays share: blocks that do not fit and wrong data end a launch here.
#include "device/sim/play/launch.hpp"

#include "base/failure_marks.hpp"
#include "base/gpu_facts.hpp"
#include "base/random.hpp"
#include "base/units.hpp"

#include <fmt/format.h>

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
    const std::uint64_t bytes = geometry.index.granularity_bytes * sets;
    period = std::lcm(period, bytes >> std::countr_zero(bytes));
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

/// Periods of indexes count as far as they leave a choice.
Steps steps_of(const Model& model) {
  Steps steps{.least_bytes = least_step(model.pages)};
  const auto heed = [&](const CacheModel& cache) {
    const std::uint64_t odd = std::lcm(steps.odd, odd_period(cache));
    const std::uint64_t most = model.device.memory_bytes / steps.least_bytes / fewest_offsets;
    if (odd <= most) steps.odd = odd;
  };
  std::ranges::for_each(model.caches, heed);
  std::ranges::for_each(model.pages.tlbs, heed);
  return steps;
}

}  // namespace

std::uint64_t draw_buffer_offset(const Model& model, std::uint64_t seed_of_die, Place place,
                                 std::uint64_t buffer_bytes) {
  const std::uint64_t memory_bytes = model.device.memory_bytes;
  const Steps steps = steps_of(model);
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

std::uint64_t read_clock(const Launch& launch, int sm, std::uint64_t cycles) {
  const std::uint64_t now = launch.die.clock_base_cycles[static_cast<std::size_t>(sm)] + cycles;
  return now - now % launch.model.clock.granularity_cycles;
}

std::uint64_t read_timer(const Launch& launch, double time_ns) {
  // It starts from the host's time; any value far from 0 will do.
  constexpr std::uint64_t epoch_ns = 1'700'000'000'000'000'000ULL;
  const auto whole_ns = static_cast<std::uint64_t>(time_ns);
  return epoch_ns + whole_ns - whole_ns % launch.model.clock.globaltimer_step_ns;
}

void check_data(const Launch& launch) {
  const std::uint64_t period = launch.faults.wrong_data_period;
  if (period != 0 && launch.number % period == 0) {
    throw DeviceError(
        fmt::format("{} the memory returned what was never written (the times mean nothing) check "
                    "the memory of this GPU",
                    wrong_data_mark));
  }
}

std::uint64_t choose_carveout(const DeviceInfo& info, std::uint64_t block_bytes,
                              std::optional<std::uint64_t> wanted_bytes) {
  const auto refuse = [block_bytes] {
    return DeviceError("a block with " + format_bytes(static_cast<double>(block_bytes)) +
                       " of shared memory does not fit (records lie there) record fewer accesses "
                       "or choose a larger shared part");
  };
  const std::vector<std::uint64_t>& carveouts = info.shared_carveouts_bytes;
  if (block_bytes > info.shared_bytes_per_block) throw refuse();
  if (carveouts.empty()) return 0;
  const std::uint64_t needed =
      block_bytes == 0 ? 0 : block_bytes + info.reserved_shared_bytes_per_block;
  const auto found =
      std::lower_bound(carveouts.begin(), carveouts.end(), wanted_bytes.value_or(needed));
  if (found == carveouts.end() || *found < needed) throw refuse();
  return *found;
}

int resident_blocks(const Model& model, int block_threads, std::uint64_t block_shared_bytes) {
  const DeviceInfo& info = model.device;
  const auto shared = static_cast<int>(
      block_shared_bytes == 0
          ? info.max_threads_per_sm
          : info.shared_bytes_per_sm / (block_shared_bytes + info.reserved_shared_bytes_per_block));
  const int resident = std::min(
      {model.units.throughput.max_blocks_per_sm, info.max_threads_per_sm / block_threads, shared});
  if (block_threads > info.max_threads_per_block || resident == 0 ||
      block_shared_bytes > info.shared_bytes_per_block) {
    throw DeviceError("a block of " + std::to_string(block_threads) + " threads with " +
                      format_bytes(static_cast<double>(block_shared_bytes)) +
                      " of shared memory does not fit on an SM, ask for a smaller one");
  }
  return resident;
}

int warps_of(int block_threads) {
  constexpr int threads = warp_threads;
  return (block_threads + threads - 1) / threads;
}

std::vector<int> first_sms(int count) {
  std::vector<int> sms(static_cast<std::size_t>(count));
  std::iota(sms.begin(), sms.end(), 0);
  return sms;
}

}  // namespace sonde::sim
