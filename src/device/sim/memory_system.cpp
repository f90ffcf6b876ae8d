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

int home_of(std::uint64_t address, std::uint64_t mask) {
  return __builtin_parityll(address & mask);
}

/// Where a byte of a texture lies: its rows are cut into tiles that are stored one by one.
std::uint64_t find_in_tiles(const Tile& tile, std::uint64_t offset_bytes) {
  const std::uint64_t row = offset_bytes / texture_row_bytes;
  const std::uint64_t place = offset_bytes % texture_row_bytes;
  const std::uint64_t tiles_per_row = texture_row_bytes / tile.width_bytes;
  const std::uint64_t number = row / tile.rows * tiles_per_row + place / tile.width_bytes;
  return (number * tile.rows + row % tile.rows) * tile.width_bytes + place % tile.width_bytes;
}

}  // namespace

MemorySystem::MemorySystem(const Model& model, const Die& die)
    : model_(model), die_(die), routes_(die.sms.size()), pages_(model.pages) {
  caches_.resize(model.caches.size());
  tlbs_.resize(model.pages.tlbs.size() + model.pages.path_tlbs.size());
  for (auto& instances : caches_) instances.resize(die.sms.size());
  for (auto& instances : tlbs_) instances.resize(die.sms.size());
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

CacheArray* MemorySystem::ready(std::vector<Instance>& instances, int number,
                                const CacheModel& model, const Geometry& geometry) {
  Instance& instance = instances[static_cast<std::size_t>(number)];
  if (instance.geometry != &geometry) {
    instance.array = std::make_unique<CacheArray>(model, geometry);
    instance.geometry = &geometry;
    instance.probe = 0;
  }
  if (instance.probe != probe_) {
    instance.array->clear(
        derive_seed(probe_seed_, model.name + " victims " + std::to_string(number)));
    instance.probe = probe_;
  }
  return instance.array.get();
}

MemorySystem::Stop MemorySystem::open_stop(const SmPlace& place, int sm, std::size_t cache,
                                           std::uint64_t shared_bytes) {
  const CacheModel& model = model_.caches[cache];
  const Geometry& geometry = model.geometry_for(shared_bytes);
  const int number = instance_of(place, sm, model.scope);
  const bool split = model.scope == Scope::partition && model_.partitions.count == 2;
  const bool sliced = model_.slices && (split || model.scope == Scope::device);
  return {.model = &model,
          .array = ready(caches_[cache], number, model, geometry),
          .far = split ? ready(caches_[cache], 1 - number, model, geometry) : nullptr,
          .offset_cycles = die_.cache_offset_cycles[cache][static_cast<std::size_t>(sm)],
          .sliced = sliced};
}

MemorySystem::Route MemorySystem::open_route(int sm, std::uint64_t shared_bytes) {
  const SmPlace& place = die_.sms[static_cast<std::size_t>(sm)];
  Route route;
  for (std::size_t cache : path_->caches) {
    route.stops.push_back(open_stop(place, sm, cache, shared_bytes));
  }
  for (std::size_t i : path_->tlbs) {
    const CacheModel& tlb = model_.pages.tlb(i);
    route.tlbs.push_back(
        ready(tlbs_[i], instance_of(place, sm, tlb.scope), tlb, tlb.geometries.front()));
  }
  route.slow_cycles = die_.slow_sm_cycles[static_cast<std::size_t>(sm)];
  route.partition = place.partition;
  return route;
}

void MemorySystem::begin_probe(const PathModel& path, std::uint64_t buffer_bytes,
                               std::uint64_t shared_bytes, const std::vector<int>& sms,
                               std::uint64_t seed) {
  ++probe_;
  probe_seed_ = seed;
  path_ = &path;
  for (int sm : sms) routes_[static_cast<std::size_t>(sm)] = open_route(sm, shared_bytes);
  pages_.begin_probe(buffer_bytes, derive_seed(seed, "pages"));
}

std::uint64_t MemorySystem::address_of(std::uint64_t offset_bytes) const {
  if (path_->tile) return find_in_tiles(*path_->tile, offset_bytes);
  switch (path_->space) {
    case AddressSpace::global: return offset_bytes;
    case AddressSpace::constant: return constant_base + offset_bytes;
    case AddressSpace::code: return code_base + offset_bytes;
  }
  return offset_bytes;
}

/// Only global memory is translated.
Translation MemorySystem::translate(const Route& route, std::uint64_t address) {
  if (path_->space != AddressSpace::global) return {.physical = address};
  return pages_.translate(route.tlbs, address);
}

/// The first touch of a page starts a stream; an access a little ahead of it finds its line on the
/// way already and moves it on.
bool MemorySystem::prefetched(Stream& stream, const Prefetch& prefetch, std::uint64_t address,
                              bool cold) {
  const bool ahead = address >= stream.next && address < stream.end &&
                     address - stream.next <= prefetch.stride_limit_bytes;
  if (ahead) {
    stream.next = address;
  } else if (cold) {
    stream = {address, address + prefetch.bytes};
  }
  return ahead;
}

/// `at` is the place on the route of who served the load, or of the last one for DRAM.
Load MemorySystem::finish(const Route& route, std::size_t at, const LatencyRow& row,
                          const Translation& translation, int partition,
                          double jitter_cycles) const {
  std::uint32_t cycles = row[translation.outcome] + route.slow_cycles;
  if (route.stops.empty()) return {cycles, jitter_cycles};
  cycles += route.stops[at].offset_cycles;
  if (route.stops[at].sliced) {
    const std::int32_t offset_cycles = slice_offset(translation.physical, partition);
    cycles = static_cast<std::uint32_t>(static_cast<std::int32_t>(cycles) + offset_cycles);
  }
  return {cycles, jitter_cycles};
}

std::int32_t MemorySystem::slice_offset(std::uint64_t physical, int partition) const {
  const int slice = partition * model_.slices->count + static_cast<int>((*slice_of_)(physical));
  return die_.slice_offset_cycles[static_cast<std::size_t>(slice)];
}

/// Two halves: look here if the line may be here, then at its home over there.
Load MemorySystem::load_partitioned(const Route& route, std::size_t at,
                                    const Translation& translation,
                                    std::uint64_t span_bytes) const {
  const Stop& stop = route.stops[at];
  const double jitter_cycles = stop.model->jitter_cycles;
  const std::uint64_t address = translation.physical;
  const int home = home_of(address, model_.partitions.home_mask);
  const bool home_is_near = home == route.partition;
  const bool copied = model_.partitions.replicate && !path_->at_home;
  if ((home_is_near || copied) && read_span(*stop.array, address, span_bytes)) {
    return finish(route, at, path_->hit[at], translation, route.partition, jitter_cycles);
  }
  if (!home_is_near && read_span(*stop.far, address, span_bytes)) {
    return finish(route, at, path_->far_hit, translation, home, jitter_cycles);
  }
  const LatencyRow& row = home_is_near ? path_->dram : path_->dram_far;
  return finish(route, at, row, translation, home, model_.dram.jitter_cycles);
}

/// A read of all that the level above asks for; true if all of it was there.
bool MemorySystem::read_span(CacheArray& array, std::uint64_t address, std::uint64_t span_bytes) {
  bool hit = array.access(address);
  const std::uint64_t step = array.fetch_bytes();
  if (span_bytes <= step) return hit;
  const std::uint64_t first = address & ~(span_bytes - 1);
  for (std::uint64_t at = first; at < first + span_bytes; at += step) {
    if ((at ^ address) >= step) hit = array.access(at) && hit;
  }
  return hit;
}

Load MemorySystem::load(int sm, std::uint64_t offset_bytes) {
  Route& route = routes_[static_cast<std::size_t>(sm)];
  const std::uint64_t address = address_of(offset_bytes);
  std::optional<Translation> translation;
  std::uint64_t span_bytes = 1;
  for (std::size_t at = 0; at < route.stops.size(); ++at) {
    const Stop& stop = route.stops[at];
    if (stop.model->addressing == Addressing::virtual_address) {
      if (read_span(*stop.array, address, span_bytes)) {
        return finish(route, at, path_->hit[at], {}, route.partition, stop.model->jitter_cycles);
      }
    } else {
      if (!translation) translation = translate(route, address);
      if (stop.far != nullptr) return load_partitioned(route, at, *translation, span_bytes);
      bool hit = read_span(*stop.array, translation->physical, span_bytes);
      if (!hit && stop.model->prefetch) {
        hit = prefetched(route.stream, *stop.model->prefetch, translation->physical,
                         translation->cold);
      }
      if (hit) {
        return finish(route, at, path_->hit[at], *translation, route.partition,
                      stop.model->jitter_cycles);
      }
    }
    span_bytes = std::max(span_bytes, stop.array->fetch_bytes());
  }
  if (!translation) translation = translate(route, address);
  const std::size_t last = route.stops.empty() ? 0 : route.stops.size() - 1;
  return finish(route, last, path_->dram, *translation, route.partition, model_.dram.jitter_cycles);
}

/// Stores meet at the home of the line; a copy in the other half leaves.
void MemorySystem::store_partitioned(const Route& route, const Stop& stop,
                                     std::uint64_t physical) const {
  const bool home_is_near = home_of(physical, model_.partitions.home_mask) == route.partition;
  (home_is_near ? stop.array : stop.far)->store(physical);
  (home_is_near ? stop.far : stop.array)->drop(physical);
}

void MemorySystem::store(int sm, std::uint64_t offset_bytes) {
  const Route& route = routes_[static_cast<std::size_t>(sm)];
  const std::uint64_t address = address_of(offset_bytes);
  std::optional<Translation> translation;
  for (const Stop& stop : route.stops) {
    if (stop.model->addressing == Addressing::virtual_address) {
      stop.array->store(address);
      continue;
    }
    if (!translation) translation = translate(route, address);
    if (stop.far != nullptr) {
      store_partitioned(route, stop, translation->physical);
    } else {
      stop.array->store(translation->physical);
    }
  }
}

}  // namespace sonde::sim
