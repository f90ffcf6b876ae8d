// Sends each load along its route. play/chase.cpp adds noise and the clock.
#include "device/sim/memory/memory_system.hpp"

#include "base/error.hpp"

#include <algorithm>
#include <cmath>

namespace sonde::sim {
namespace {

// Constants and code lie above all of global memory, so that a cache that holds several of them can
// distinguish their lines.
constexpr std::uint64_t constant_base = 1ULL << 48;
constexpr std::uint64_t code_base = 1ULL << 49;

/// Adds the distance of the SM or slice, which may be negative; a load takes at least one cycle.
Load answer(const LatencyRow& row, std::size_t outcome, std::int64_t distance_cycles,
            double jitter_cycles) {
  const std::int64_t cycles = row[outcome] + distance_cycles;
  return {static_cast<std::uint32_t>(std::max<std::int64_t>(1, cycles)), jitter_cycles};
}

std::uint64_t base_of(AddressSpace space, std::uint64_t buffer_address) {
  switch (space) {
    case AddressSpace::global: return buffer_address;
    case AddressSpace::constant: return constant_base;
    case AddressSpace::code: return code_base;
  }
  return 0;
}

/// Where a byte of a texture lies. The rows are cut into tiles, stored one after the other.
std::uint64_t find_in_tiles(const Tile& tile, std::uint64_t offset_bytes) {
  const std::uint64_t row = offset_bytes / texture_row_bytes;
  const std::uint64_t place = offset_bytes % texture_row_bytes;
  const std::uint64_t tiles_per_row = texture_row_bytes / tile.width_bytes;
  const std::uint64_t number = row / tile.rows * tiles_per_row + place / tile.width_bytes;
  return (number * tile.rows + row % tile.rows) * tile.width_bytes + place % tile.width_bytes;
}

/// True if the prefetch stream already brings the line. The first access to a page (`cold`) starts
/// a stream; an access a little ahead of it moves it on.
bool prefetched(Stream& stream, const Prefetch& prefetch, std::uint64_t address, bool cold) {
  const bool ahead = address > stream.next && address < stream.end &&
                     address - stream.next <= prefetch.stride_limit_bytes;
  if (ahead) {
    stream.next = address;
  } else if (cold) {
    stream = {address, address + prefetch.ahead_bytes};
  }
  return ahead;
}

}  // namespace

MemorySystem::MemorySystem(const Model& model, const Die& die)
    : model_(model),
      die_(die),
      arrays_(model, die),
      pages_(model.pages, die.memory_address, model.device.memory_bytes,
             derive_seed(die.seed, "pages")),
      half_copy_cycles_(std::lround(model.partitions.copy_cycles / 2)),
      routes_(load_path_count * die.sms.size()) {
  if (model.slices) slice_of_.emplace(*model.slices);
}

const PathModel& MemorySystem::path(LoadPath path) const {
  const auto& found = model_.paths[static_cast<std::size_t>(path)];
  if (!found) {
    throw DeviceError("this GPU has no load path " + std::string(to_text(path)) +
                      " (its instruction set lacks it, or nobody declared it) use another");
  }
  return *found;
}

void MemorySystem::begin_probe(std::uint64_t buffer_address, std::uint64_t buffer_bytes,
                               std::uint64_t shared_bytes, const std::vector<ChaseLane>& lanes,
                               std::uint64_t seed) {
  buffer_address_ = buffer_address;
  arrays_.begin_probe(seed);
  std::optional<std::uint64_t> tail_bytes;  // after the buffer; set if a path reads it
  for (const ChaseLane& lane : lanes) {
    const PathModel& through = path(lane.path);
    Route& route = routes_[route_of(lane)];
    route = arrays_.open_route(through, lane.sm, shared_bytes);
    route.base = base_of(through.space, buffer_address);
    if (!route.translated()) continue;
    // The last rows of a texture are filled up to whole tiles.
    const std::uint64_t rows = through.tile ? through.tile->rows : 0;
    tail_bytes = std::max(tail_bytes.value_or(0), rows * texture_row_bytes);
  }
  if (tail_bytes) pages_.begin_probe(buffer_address, buffer_bytes + *tail_bytes);
}

std::uint32_t MemorySystem::home_of(std::uint64_t physical) const {
  return __builtin_parityll(physical & model_.partitions.home_mask) != 0 ? 1 : 0;
}

/// Constants and code are not translated.
Access MemorySystem::locate(std::size_t number, std::uint64_t offset_bytes) const {
  const Route& route = routes_[number];
  const auto& tile = route.path->tile;
  Access access{.address = route.base + (tile ? find_in_tiles(*tile, offset_bytes) : offset_bytes)};
  access.physical = route.translated() ? pages_.to_physical(access.address) : access.address;
  access.home = home_of(access.physical);
  if (!route.levels.empty()) {
    const Level& last = route.levels.back();
    last.by_home[access.home]->fetch_ahead(last_address(route, access));
    if (route.copied && last.partitioned) last.array->fetch_ahead(access.physical);
  }
  return access;
}

[[gnu::always_inline]] inline Translation MemorySystem::translate(const Route& route,
                                                                  const Access& access) {
  return route.translated() ? pages_.translate(route.tlbs, access.address) : Translation{};
}

/// Distance of the slice that serves the line, for hits in the last cache of a path and for DRAM.
[[gnu::always_inline]] inline std::int64_t MemorySystem::slice_cycles(
    const Route& route, std::uint64_t physical, std::uint32_t partition) const {
  return route.slice_cycles.empty() ? 0 : route.slice_cycles[slice_number(partition, physical)];
}

/// For a divided L2: asks the partition of the SM if it may hold the line, then the line's home in
/// the other partition.
[[gnu::always_inline]] inline Load MemorySystem::load_partitioned(Route& route,
                                                                  const Access& access,
                                                                  std::size_t outcome,
                                                                  std::uint64_t span_bytes) const {
  const Level& level = route.levels.back();
  const bool home_is_near = access.home == route.partition;
  if ((route.copied || home_is_near) && level.array->access(access.physical, span_bytes)) {
    return answer(*level.hit, outcome,
                  level.distance_cycles + (home_is_near ? -half_copy_cycles_ : half_copy_cycles_) +
                      slice_cycles(route, access.physical, route.partition),
                  level.model->jitter_cycles);
  }
  const bool hit = !home_is_near && level.by_home[access.home]->access(access.physical, span_bytes);
  const std::int64_t distance_cycles =
      level.distance_cycles + slice_cycles(route, access.physical, access.home);
  const PathModel& path = *route.path;
  if (hit) return answer(path.far_hit, outcome, distance_cycles, level.model->jitter_cycles);
  return answer(home_is_near ? path.dram : path.dram_far, outcome, distance_cycles,
                model_.units.dram.jitter_cycles);
}

Load MemorySystem::fetch(std::size_t number, const Access& access) {
  Route& route = routes_[number];
  const std::size_t count = route.levels.size();
  std::uint64_t span_bytes = 1;
  std::size_t at = 0;
  for (; at < route.virtual_levels; ++at) {
    const Level& level = route.levels[at];
    if (level.array->access(access.address, span_bytes)) {
      return answer(*level.hit, 0, level.distance_cycles, level.model->jitter_cycles);
    }
    span_bytes = std::max(span_bytes, level.array->fetch_bytes());
  }
  const auto [outcome, cold] = translate(route, access);
  for (; at < count; ++at) {
    const Level& level = route.levels[at];
    if (level.partitioned) return load_partitioned(route, access, outcome, span_bytes);
    bool hit = level.array->access(access.physical, span_bytes);
    if (!hit && level.model->prefetch) {
      hit = prefetched(route.stream, *level.model->prefetch, access.physical, cold);
    }
    if (hit) {
      const std::int64_t slice = at + 1 == count ? slice_cycles(route, access.physical, 0) : 0;
      return answer(*level.hit, outcome, level.distance_cycles + slice, level.model->jitter_cycles);
    }
    span_bytes = std::max(span_bytes, level.array->fetch_bytes());
  }
  return answer(route.path->dram, outcome,
                route.distance_cycles + slice_cycles(route, access.physical, 0),
                model_.units.dram.jitter_cycles);
}

/// The instructions of a block come one after the other: it takes as long as the slowest fetch. A
/// block that is fetched ahead gains the time that the block before it runs, that of a hit in the
/// first cache.
[[gnu::noinline]] Load MemorySystem::execute(std::size_t number, const Access& access) {
  Route& route = routes_[number];
  const std::uint64_t first = access.address - route.base;
  Load slowest = fetch(number, access);
  for (std::uint64_t done = code_entry_bytes; done < executed_bytes(first);
       done += code_entry_bytes) {
    const Load load = fetch(number, locate(number, first + done));
    if (load.latency_cycles > slowest.latency_cycles) slowest = load;
  }
  if (route.path->fetches_ahead && access.address == route.next_code) {
    const std::uint32_t hit_cycles = route.path->hit.front().front();
    slowest.latency_cycles = std::max(2 * hit_cycles, slowest.latency_cycles) - hit_cycles;
  }
  route.next_code = access.address + executed_bytes(first);
  return slowest;
}

Load MemorySystem::load(std::size_t number, const Access& access) {
  if (neighbour_share_ > 0) [[unlikely]]
    return load_beside_neighbour(number, access);
  if (routes_[number].executes()) [[unlikely]]
    return execute(number, access);
  return fetch(number, access);
}

void MemorySystem::share_with(const std::optional<Neighbour>& neighbour, std::uint64_t seed) {
  neighbour_share_ = neighbour ? neighbour->share : 0;
  neighbour_draws_ = Random(derive_seed(seed, "loads of the neighbour"));
}

/// Lines of another process (the neighbour) have replaced some lines in the L2, and loads that go
/// beyond the first cache wait for its loads, at most its share of their latency and mostly less.
[[gnu::noinline]] Load MemorySystem::load_beside_neighbour(std::size_t number,
                                                           const Access& access) {
  constexpr double evicted = 0.1;  // share of the lines, per unit of the neighbour's share
  const Route& route = routes_[number];
  if (route.shares_last && neighbour_draws_.unit() < evicted * neighbour_share_) {
    for (CacheArray* array : route.levels.back().by_home) array->drop(last_address(route, access));
  }
  Load load = route.executes() ? execute(number, access) : fetch(number, access);
  const double drawn = neighbour_draws_.unit();
  const Level* first = route.levels.size() > 1 ? &route.levels.front() : nullptr;
  if (first == nullptr ||
      load.latency_cycles > std::ranges::max(*first->hit) + first->distance_cycles) {
    const double wait_cycles = neighbour_share_ * load.latency_cycles * drawn * drawn * drawn;
    load.latency_cycles += static_cast<std::uint32_t>(wait_cycles);
  }
  return load;
}

/// A reduction goes to the slice in the partition of its SM and, if the line's home is the other
/// partition, on to the slice there.
void MemorySystem::start_co_runners(const std::vector<CoRunner>& runners) {
  if (!slice_of_) return;
  reducing_sms_by_slice_.assign(die_.slice_offset_cycles.size() / 2, 0);
  reducing_sms_by_gpc_.assign(static_cast<std::size_t>(model_.chip.gpcs), 0);
  for (const CoRunner& runner : runners) {
    const DieSm& place = die_.sm(runner.sm);
    const std::uint64_t physical = pages_.to_physical(buffer_address_ + runner.offset_bytes);
    const auto near = static_cast<std::uint32_t>(place.partition);
    ++reducing_sms_by_slice_[slice_number(near, physical)];
    const std::uint32_t home = home_of(physical);
    if (home != near) ++reducing_sms_by_slice_[slice_number(home, physical)];
    ++reducing_sms_by_gpc_[static_cast<std::size_t>(place.gpc)];
  }
}

std::uint32_t MemorySystem::wait_cycles(const ChaseLane& lane, const Access& access) const {
  if (!slice_of_) return 0;
  const ReductionModel& reductions = model_.slices->reductions;
  const DieSm& place = die_.sm(lane.sm);
  const auto queue_cycles = [&](std::uint32_t partition) {
    const int sms = reducing_sms_by_slice_[slice_number(partition, access.physical)];
    return reductions.wait_cycles * std::max(0.0, sms - reductions.served_sms);
  };
  const auto near = static_cast<std::uint32_t>(place.partition);
  double cycles = queue_cycles(near);
  if (!routes_[route_of(lane)].copied && access.home != near) cycles += queue_cycles(access.home);
  cycles += reductions.port_wait_cycles * reducing_sms_by_gpc_[static_cast<std::size_t>(place.gpc)];
  return static_cast<std::uint32_t>(cycles);
}

void MemorySystem::store(std::size_t number, std::uint64_t offset_bytes) {
  const Route& route = routes_[number];
  const Access access = locate(number, offset_bytes);
  for (std::size_t at = 0; at < route.virtual_levels; ++at) {
    route.levels[at].array->store(access.address);
  }
  translate(route, access);
  for (std::size_t at = route.virtual_levels; at < route.levels.size(); ++at) {
    const Level& level = route.levels[at];
    level.by_home[access.home]->store(access.physical);
    // A copy in the other partition becomes invalid.
    if (level.partitioned) level.by_home[1 - access.home]->drop(access.physical);
  }
}

}  // namespace sonde::sim
