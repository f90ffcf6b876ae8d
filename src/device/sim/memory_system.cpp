// The memory side of a simulated GPU at work.
#include "device/sim/memory_system.hpp"

#include "base/error.hpp"

#include <algorithm>

namespace sonde::sim {
namespace {

// Constants and code lie beyond all of global memory, so that caches which hold both tell them
// apart.
constexpr std::uint64_t constant_base = 1ULL << 45;
constexpr std::uint64_t code_base = 1ULL << 46;

std::uint64_t base_of(AddressSpace space) {
  switch (space) {
    case AddressSpace::global: return 0;
    case AddressSpace::constant: return constant_base;
    case AddressSpace::code: return code_base;
  }
  return 0;
}

/// Where a byte of a texture lies: its rows are cut into tiles that are stored one by one.
std::uint64_t find_in_tiles(const Tile& tile, std::uint64_t offset_bytes) {
  const std::uint64_t row = offset_bytes / texture_row_bytes;
  const std::uint64_t place = offset_bytes % texture_row_bytes;
  const std::uint64_t tiles_per_row = texture_row_bytes / tile.width_bytes;
  const std::uint64_t number = row / tile.rows * tiles_per_row + place / tile.width_bytes;
  return (number * tile.rows + row % tile.rows) * tile.width_bytes + place % tile.width_bytes;
}

/// The first touch of a page starts a stream; an access a little ahead of it finds its line on the
/// way already and moves it on.
bool prefetched(Stream& stream, const Prefetch& prefetch, const Translation& translation) {
  const std::uint64_t address = translation.physical;
  const bool ahead = address > stream.next && address < stream.end &&
                     address - stream.next <= prefetch.stride_limit_bytes;
  if (ahead) {
    stream.next = address;
  } else if (translation.cold) {
    stream = {address, address + prefetch.bytes};
  }
  return ahead;
}

/// Stores meet at the home of the line; a copy in the other half leaves.
void store_partitioned(const Stop& stop, const Visit& visit) {
  stop.half[visit.home]->store(visit.physical);
  stop.half[1 - visit.home]->drop(visit.physical);
}

}  // namespace

MemorySystem::MemorySystem(const Model& model, const Die& die)
    : model_(model), die_(die), arrays_(model, die), pages_(model.pages), routes_(die.sms.size()) {
  if (model.slices) {
    slice_of_.emplace(model.slices->index, static_cast<std::uint32_t>(model.slices->count));
  }
}

const PathModel& MemorySystem::path(LoadPath path) const {
  const auto& found = model_.paths[static_cast<std::size_t>(path)];
  if (!found) {
    throw DeviceError("this GPU has no load path " + std::string(to_text(path)) +
                      " (its instruction set lacks it, or nobody declared it) use another");
  }
  return *found;
}

void MemorySystem::begin_probe(const PathModel& path, std::uint64_t buffer_bytes,
                               std::uint64_t shared_bytes, const std::vector<int>& sms,
                               std::uint64_t seed) {
  path_ = &path;
  base_ = base_of(path.space);
  constexpr std::size_t many_sms = 8;
  copied_ = model_.partitions.replicate && !path.at_home;
  crowded_ = sms.size() >= many_sms;
  arrays_.begin_probe(seed);
  for (int sm : sms) {
    routes_[static_cast<std::size_t>(sm)] = arrays_.open_route(path, sm, shared_bytes);
  }
  // The last rows of a texture end with whole tiles.
  const std::uint64_t tail_bytes = path.tile ? path.tile->rows * texture_row_bytes : 0;
  pages_.begin_probe(buffer_bytes + tail_bytes, derive_seed(seed, "pages"));
}

SONDE_HOT std::uint64_t MemorySystem::address_of(std::uint64_t offset_bytes) const {
  return path_->tile ? find_in_tiles(*path_->tile, offset_bytes) : base_ + offset_bytes;
}

/// Only global memory is translated.
SONDE_HOT Visit MemorySystem::find_on(const Route& route, std::uint64_t offset_bytes) const {
  Visit visit{.address = address_of(offset_bytes)};
  visit.physical = base_ == 0 ? pages_.to_physical(visit.address) : visit.address;
  if (model_.partitions.count > 1) {
    visit.home = __builtin_parityll(visit.physical & model_.partitions.home_mask) != 0 ? 1 : 0;
  }
  if (route.stop_count > 0) {
    const bool is_virtual = route.virtual_stops == route.stop_count;
    visit.last_set = route.last().array->set_of(is_virtual ? visit.address : visit.physical);
    visit.first_set = route.stop_count == 1
                          ? visit.last_set
                          : route.stops.front().array->set_of(
                                route.virtual_stops > 0 ? visit.address : visit.physical);
  }
  return visit;
}

SONDE_HOT void MemorySystem::expect_on(const Route& route, const Visit& visit) const {
  if (crowded_ && route.stop_count > 1) route.stops.front().array->expect(visit.first_set);
  if (route.is_large && route.asked_last) {
    const Stop& stop = route.last();
    stop.half[visit.home]->expect(visit.last_set);
    if (copied_) stop.array->expect(visit.last_set);
  }
}

Visit MemorySystem::find(int sm, std::uint64_t offset_bytes) const {
  return find_on(routes_[static_cast<std::size_t>(sm)], offset_bytes);
}

void MemorySystem::expect(int sm, const Visit& visit) const {
  expect_on(routes_[static_cast<std::size_t>(sm)], visit);
}

Visit MemorySystem::prepare(int sm, std::uint64_t offset_bytes) const {
  const Route& route = routes_[static_cast<std::size_t>(sm)];
  const Visit visit = find_on(route, offset_bytes);
  expect_on(route, visit);
  return visit;
}

SONDE_HOT Translation MemorySystem::translate(const Route& route, const Visit& visit) {
  if (base_ != 0) return {.physical = visit.physical};
  return pages_.translate(route.tlbs, visit.address, visit.physical);
}

/// Of the last cache of a path, or from behind it.
SONDE_HOT Load MemorySystem::answer_sliced(const Route& route, const Source& source,
                                           std::size_t outcome, std::uint64_t physical,
                                           std::uint32_t partition) const {
  Load load = answer(source, outcome);
  if (route.sliced) {
    const auto slice =
        partition * static_cast<std::size_t>(model_.slices->count) + (*slice_of_)(physical);
    load.latency_cycles += static_cast<std::uint32_t>(die_.slice_offset_cycles[slice]);
  }
  return load;
}

/// Two halves: look here if the line may be here, then at its home over there.
SONDE_HOT Load MemorySystem::load_partitioned(Route& route, const Visit& visit, std::size_t outcome,
                                              std::uint64_t span_bytes) const {
  const Stop& stop = route.last();
  const bool home_is_near = visit.home == route.partition;
  if (copied_ || home_is_near) {
    const bool hit = stop.array->access(visit.last_set, visit.physical, span_bytes);
    if (hit) return answer_sliced(route, stop.hit, outcome, visit.physical, route.partition);
  }
  if (!home_is_near && stop.half[visit.home]->access(visit.last_set, visit.physical, span_bytes)) {
    return answer_sliced(route, route.far_hit, outcome, visit.physical, visit.home);
  }
  const Source& source = home_is_near ? route.dram : route.dram_far;
  return answer_sliced(route, source, outcome, visit.physical, visit.home);
}

Load MemorySystem::load(int sm, const Visit& visit) {
  Route& route = routes_[static_cast<std::size_t>(sm)];
  const std::size_t count = route.stop_count;
  std::uint64_t span_bytes = 1;
  std::size_t at = 0;
  const auto set_in = [&](const Stop& stop, std::uint64_t address) {
    if (at + 1 == count) return visit.last_set;
    return at == 0 ? visit.first_set : stop.array->set_of(address);
  };
  for (; at < route.virtual_stops; ++at) {
    const Stop& stop = route.stops[at];
    if (stop.array->access(set_in(stop, visit.address), visit.address, span_bytes)) {
      route.asked_last = at + 1 == count;
      return answer(stop.hit, 0);
    }
    span_bytes = std::max(span_bytes, stop.array->fetch_bytes());
  }
  const Translation translation = translate(route, visit);
  route.asked_last = true;
  for (; at < count; ++at) {
    const Stop& stop = route.stops[at];
    if (stop.halved) return load_partitioned(route, visit, translation.outcome, span_bytes);
    bool hit = stop.array->access(set_in(stop, visit.physical), visit.physical, span_bytes);
    if (!hit && stop.prefetch != nullptr) {
      hit = prefetched(route.stream, *stop.prefetch, translation);
    }
    if (hit) {
      return at + 1 == count
                 ? answer_sliced(route, stop.hit, translation.outcome, visit.physical, 0)
                 : answer(stop.hit, translation.outcome);
    }
    span_bytes = std::max(span_bytes, stop.array->fetch_bytes());
  }
  return answer_sliced(route, route.dram, translation.outcome, visit.physical, 0);
}

void MemorySystem::store(int sm, std::uint64_t offset_bytes) {
  const Route& route = routes_[static_cast<std::size_t>(sm)];
  const Visit visit = find(sm, offset_bytes);
  for (std::size_t at = 0; at < route.virtual_stops; ++at) {
    route.stops[at].array->store(visit.address);
  }
  translate(route, visit);
  for (std::size_t at = route.virtual_stops; at < route.stop_count; ++at) {
    const Stop& stop = route.stops[at];
    if (stop.halved) {
      store_partitioned(stop, visit);
    } else {
      stop.array->store(visit.physical);
    }
  }
}

}  // namespace sonde::sim
