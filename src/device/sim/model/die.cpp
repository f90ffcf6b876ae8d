// Draws from a seed how one die of a model differs from the next.
#include "device/sim/model/die.hpp"

#include "base/random.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <numeric>

namespace sonde::sim {
namespace {

// Clocks of different SMs start up to this far apart: far more than any launch takes.
constexpr std::uint64_t clock_base_range_cycles = 1ULL << 36;

/// Number of TPCs that work in each GPC, after TPCs were switched off at random.
std::vector<int> sweep_floor(const ChipModel& chip, Random& random) {
  std::vector<int> tpcs(static_cast<std::size_t>(chip.gpcs), chip.tpcs_per_gpc);
  for (int off = chip.gpcs * chip.tpcs_per_gpc - chip.enabled_tpcs; off > 0;) {
    int& chosen = tpcs[random.below(tpcs.size())];
    if (chosen == chip.min_tpcs_per_gpc) continue;
    --chosen;
    --off;
  }
  return tpcs;
}

/// GPC of each TPC, in the order in which the driver numbers TPCs.
std::vector<int> number_tpcs(const ChipModel& chip, std::vector<int> tpcs_left) {
  std::vector<int> gpc_of_tpc;
  const auto deal = [&](std::size_t gpc) {
    gpc_of_tpc.push_back(static_cast<int>(gpc));
    --tpcs_left[gpc];
  };
  while (gpc_of_tpc.size() < static_cast<std::size_t>(chip.enabled_tpcs)) {
    for (std::size_t gpc = 0; gpc < tpcs_left.size(); ++gpc) {
      if (chip.numbering == Numbering::round_robin && tpcs_left[gpc] > 0) deal(gpc);
      while (chip.numbering == Numbering::tpc_major && tpcs_left[gpc] > 0) deal(gpc);
    }
  }
  return gpc_of_tpc;
}

std::vector<DieSm> place_sms(const Model& model, Random& random) {
  const ChipModel& chip = model.chip;
  const std::vector<int> gpc_of_tpc = number_tpcs(chip, sweep_floor(chip, random));
  std::vector<DieSm> sms;
  std::vector<int> tpcs_of_gpc(static_cast<std::size_t>(chip.gpcs));
  for (std::size_t tpc = 0; tpc < gpc_of_tpc.size(); ++tpc) {
    const int gpc = gpc_of_tpc[tpc];
    const DieSm place{.tpc = static_cast<int>(tpc),
                      .gpc = gpc,
                      .tpc_of_gpc = tpcs_of_gpc[static_cast<std::size_t>(gpc)]++,
                      .partition = gpc * model.partitions.count / chip.gpcs,
                      .side = gpc % 2};
    sms.insert(sms.end(), static_cast<std::size_t>(chip.sms_per_tpc), place);
  }
  return sms;
}

/// Half of the drawn spread belongs to the GPC (the additive part of the latency maps of Jin 2024
/// and of the L40 study), half to the TPC. The SMs of a TPC share their way to the L2: on H200s
/// they differ by less than 0.1 cycles (docs/results/h200.md, 2026-11-21). The part of tpc_cycles
/// is the same on all dies.
std::vector<std::int32_t> choose_sm_offsets(const Die& die, const ChipModel& chip,
                                            const CacheModel& cache, Random& random) {
  std::vector<double> gpc_share(static_cast<std::size_t>(chip.gpcs));
  for (double& share : gpc_share) share = random.unit();
  std::vector<double> tpc_share(static_cast<std::size_t>(chip.enabled_tpcs));
  for (double& share : tpc_share) share = random.unit();
  std::vector<std::int32_t> offsets;
  for (const DieSm& place : die.sms) {
    const double share = gpc_share[static_cast<std::size_t>(place.gpc)] +
                         tpc_share[static_cast<std::size_t>(place.tpc)];
    const auto number = static_cast<std::size_t>(place.tpc_of_gpc);
    const double place_cycles = cache.tpc_cycles.empty() ? 0 : cache.tpc_cycles[number];
    offsets.push_back(
        static_cast<std::int32_t>(std::lround(cache.sm_spread_cycles * share / 2 + place_cycles)));
  }
  return offsets;
}

/// @return [side of the SM][partition][slice]
std::vector<std::int32_t> choose_slice_offsets(const Slices& slices, int partitions,
                                               Random& random) {
  std::vector<double> distances;
  for (int i = 0; i < slices.count * partitions; ++i) {
    distances.push_back(slices.spread_cycles * (random.unit() - 0.5));
  }
  std::vector<std::int32_t> offsets;
  for (std::uint32_t side = 0; side < 2; ++side) {
    for (std::size_t i = 0; i < distances.size(); ++i) {
      double cycles = distances[i];
      if (!slices.sides.of_slice.empty()) {
        const auto slice = i % static_cast<std::size_t>(slices.count);
        const bool is_near = slices.sides.of_slice[slice] == side;
        cycles += (is_near ? -0.5 : 0.5) * slices.sides.far_cycles;
      }
      offsets.push_back(static_cast<std::int32_t>(std::lround(cycles)));
    }
  }
  return offsets;
}

constexpr std::uint64_t largest_step_bytes = 512ULL << 20;  // the page-table window of the GTX 780
constexpr std::uint64_t fewest_offsets = 4;

/// The alignment that every buffer needs.
std::uint64_t least_step(const PageModel& pages) {
  std::uint64_t step_bytes =
      std::max({pages.page_bytes, pages.block_bytes, std::bit_ceil(pages.window_bytes)});
  for (std::size_t i = 0; i < pages.tlbs.size() + pages.path_tlbs.size(); ++i) {
    step_bytes = std::max(step_bytes, pages.tlb(i).line_bytes);
  }
  return step_bytes;
}

std::uint64_t odd_part(std::uint64_t number) { return number >> std::countr_zero(number); }

/// The odd part of the period of a modulo index or a table over sets of unequal width; otherwise 1.
/// What fits into such sets depends on where in the period a buffer begins.
std::uint64_t odd_period(const CacheModel& cache) {
  std::uint64_t period = 1;
  for (const Geometry& geometry : cache.geometries) {
    const DeclaredIndex& index = geometry.index;
    const std::uint64_t sets = geometry.ways_per_set.size();
    const bool is_table = index.kind == DeclaredIndex::Kind::table;
    if ((index.kind != DeclaredIndex::Kind::modulo && !is_table) ||
        geometry.lines() == sets * geometry.most_ways()) {
      continue;
    }
    const std::uint64_t parts = is_table ? index.table.size() : sets;
    period = std::lcm(period, odd_part(index.granularity_bytes * parts));
  }
  return period;
}

/// Places are multiples of a step: `odd` times a power of two.
struct Steps {
  std::uint64_t odd = 1;
  std::uint64_t least_bytes = 0;

  /// The largest step that leaves enough multiples, 0 included, in so many bytes.
  std::uint64_t choose(std::uint64_t range_bytes) const {
    std::uint64_t step_bytes = std::max(largest_step_bytes, least_bytes);
    while (step_bytes > least_bytes && range_bytes / odd / step_bytes < fewest_offsets) {
      step_bytes /= 2;
    }
    return odd * step_bytes;
  }
};

/// Uses the period of an index only if that leaves a choice in so many bytes.
Steps steps_of(const Model& model, std::uint64_t range_bytes) {
  Steps steps{.least_bytes = least_step(model.pages)};
  const auto use_period = [&](const CacheModel& cache) {
    const std::uint64_t odd = std::lcm(steps.odd, odd_period(cache));
    const std::uint64_t most = range_bytes / steps.least_bytes / fewest_offsets;
    if (odd <= most) steps.odd = odd;
  };
  std::ranges::for_each(model.caches, use_period);
  std::ranges::for_each(model.pages.tlbs, use_period);
  return steps;
}

}  // namespace

int instance_of(const DieSm& place, int sm, Scope scope) {
  switch (scope) {
    case Scope::sm: return sm;
    case Scope::tpc: return place.tpc;
    case Scope::gpc: return place.gpc;
    case Scope::partition: return place.partition;
    case Scope::device: return 0;
  }
  return 0;
}

std::uint64_t die_seed(std::uint64_t seed, int world_rank) {
  return derive_seed(seed, "die " + std::to_string(world_rank));
}

std::string make_uuid(std::uint64_t seed_of_die) {
  Random random(derive_seed(seed_of_die, "uuid"));
  const std::uint64_t high = random();
  const std::uint64_t low = random();
  return fmt::format("GPU-{:08x}-{:04x}-{:04x}-{:04x}-{:012x}", high >> 32, (high >> 16) & 0xffff,
                     high & 0xffff, low >> 48, low & 0xffffffffffffULL);
}

std::uint64_t draw_memory_address(const Model& model, std::uint64_t seed_of_die) {
  constexpr std::uint64_t address_space_bytes = 1ULL << 47;  // of a process on x86-64
  const std::uint64_t step_bytes = steps_of(model, address_space_bytes).choose(address_space_bytes);
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

Die make_die(const Model& model, const Faults& faults, std::uint64_t seed_of_die) {
  Random random(derive_seed(seed_of_die, "die"));
  Die die;
  die.seed = seed_of_die;
  die.info = model.device;
  die.memory_address = draw_memory_address(model, seed_of_die);
  die.sms = place_sms(model, random);
  die.info.uuid = make_uuid(seed_of_die);
  die.info.serial = fmt::format("{:013}", random() % 10'000'000'000'000ULL);
  die.info.pci_bus_id = fmt::format("00000000:{:02X}:00.0", 1 + random.below(254));
  for (const CacheModel& cache : model.caches) {
    Random draws(derive_seed(seed_of_die, "offsets of " + cache.name));
    die.cache_offset_cycles.push_back(choose_sm_offsets(die, model.chip, cache, draws));
  }
  if (model.slices) {
    Random draws(derive_seed(seed_of_die, "slices"));
    die.slice_offset_cycles = choose_slice_offsets(*model.slices, model.partitions.count, draws);
  }
  if (model.units.dsm) {
    Random draws(derive_seed(seed_of_die, "distributed shared memory"));
    for (DieSm& sm : die.sms) {
      sm.dsm_offset_cycles = model.units.dsm->sm_spread_cycles / 2 * draws.unit();
    }
  }
  die.lost_ways = faults.lost_ways;
  for (const SlowPart& slow : faults.slow_slices) {
    const std::size_t of_side = die.slice_offset_cycles.size() / 2;
    for (const std::size_t first : {std::size_t{0}, of_side}) {
      die.slice_offset_cycles[first + static_cast<std::size_t>(slow.part)] +=
          static_cast<std::int32_t>(slow.cycles);
    }
  }
  for (const SlowPart& slow : faults.slow_sms) {
    die.sms[static_cast<std::size_t>(slow.part)].slow_cycles += slow.cycles;
  }
  die.tpc_port_bytes_per_cycle.assign(static_cast<std::size_t>(model.chip.enabled_tpcs),
                                      model.units.throughput.tpc_port_bytes_per_cycle);
  for (const SharedPart& slow : faults.slow_tpcs) {
    die.tpc_port_bytes_per_cycle[static_cast<std::size_t>(slow.part)] *= slow.share;
  }
  std::vector<std::uint64_t> bases(die.sms.size());
  for (std::uint64_t& base : bases) base = random.below(clock_base_range_cycles);
  for (std::size_t sm = 0; sm < die.sms.size(); ++sm) {
    const int instance = instance_of(die.sms[sm], static_cast<int>(sm), model.clock.scope);
    die.sms[sm].clock_base_cycles = bases[static_cast<std::size_t>(instance)];
  }
  return die;
}

}  // namespace sonde::sim
