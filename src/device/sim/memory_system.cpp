// The memory side of a simulated GPU at work.
#include "device/sim/memory_system.hpp"

#include "base/error.hpp"

#include <algorithm>
#include <bit>

namespace sonde::sim {
namespace {

// Blocks of the random mapping are permuted among 2^20: with 2 MB pages that is 2 TB.
constexpr std::uint64_t block_number_bits = 20;
constexpr std::uint64_t block_number_mask = (1ULL << block_number_bits) - 1;

int home_of(std::uint64_t address, std::uint64_t mask) {
  return __builtin_parityll(address & mask);
}

/// A permutation of the block numbers; bits above are left alone.
std::uint64_t permute_block(std::uint64_t block, std::uint64_t key) {
  std::uint64_t low = block & block_number_mask;
  for (int round = 0; round < 3; ++round) {
    key = mix_bits(key);
    low = (low * (key | 1) + (key >> 32)) & block_number_mask;
    low ^= low >> (block_number_bits / 2);
  }
  return (block & ~block_number_mask) | low;
}

}  // namespace

MemorySystem::MemorySystem(const Model& model, const Die& die)
    : model_(model), die_(die), ports_(die.sms.size()) {
  caches_.resize(model.caches.size());
  tlbs_.resize(model.pages.tlbs.size());
  for (auto& instances : caches_) instances.resize(die.sms.size());
  for (auto& instances : tlbs_) instances.resize(die.sms.size());
  if (model.slices) {
    slice_of_.emplace(model.slices->index, static_cast<std::uint32_t>(model.slices->count));
  }
  page_shift_ = std::countr_zero(model.pages.page_bytes);
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

void MemorySystem::open_ports(int sm, std::uint64_t shared_bytes) {
  const SmPlace& place = die_.sms[static_cast<std::size_t>(sm)];
  Ports ports;
  for (std::size_t i = 0; i < model_.caches.size(); ++i) {
    const CacheModel& cache = model_.caches[i];
    const Geometry& geometry = cache.geometry_for(shared_bytes);
    const int number = instance_of(place, sm, cache.scope);
    const bool split = cache.scope == Scope::partition && model_.partitions.count == 2;
    ports.caches.push_back(ready(caches_[i], number, cache, geometry));
    ports.far.push_back(split ? ready(caches_[i], 1 - number, cache, geometry) : nullptr);
    ports.offset_cycles.push_back(die_.cache_offset_cycles[i][static_cast<std::size_t>(sm)]);
  }
  for (std::size_t i = 0; i < model_.pages.tlbs.size(); ++i) {
    const CacheModel& tlb = model_.pages.tlbs[i];
    ports.tlbs.push_back(
        ready(tlbs_[i], instance_of(place, sm, tlb.scope), tlb, tlb.geometries.front()));
  }
  ports.slow_cycles = die_.slow_sm_cycles[static_cast<std::size_t>(sm)];
  ports.partition = place.partition;
  ports_[static_cast<std::size_t>(sm)] = std::move(ports);
}

void MemorySystem::begin_probe(std::uint64_t buffer_bytes, std::uint64_t shared_bytes,
                               const std::vector<int>& sms, std::uint64_t seed) {
  ++probe_;
  probe_seed_ = seed;
  for (int sm : sms) open_ports(sm, shared_bytes);
  walked_.assign((buffer_bytes >> page_shift_) + 1, false);
  active_window_ = 0;
  page_key_ = derive_seed(seed, "pages");
}

std::uint64_t MemorySystem::to_physical(std::uint64_t offset_bytes) const {
  if (model_.pages.mapping == PageMapping::contiguous) return offset_bytes;
  const std::uint64_t block_bytes = model_.pages.block_bytes;
  const std::uint64_t block = permute_block(offset_bytes / block_bytes, page_key_);
  return block * block_bytes + offset_bytes % block_bytes;
}

MemorySystem::Translation MemorySystem::translate(Ports& ports, std::uint64_t offset_bytes) {
  Translation result{.physical = to_physical(offset_bytes)};
  for (CacheArray* tlb : ports.tlbs) {
    if (tlb->access(offset_bytes)) return result;
    ++result.outcome;
  }
  const std::size_t page = offset_bytes >> page_shift_;
  result.cold = !walked_[page];
  walked_[page] = true;
  result.outcome += result.cold ? 1 : 0;
  if (const std::uint64_t window_bytes = model_.pages.window_bytes; window_bytes > 0) {
    const std::uint64_t window = offset_bytes / window_bytes;
    if (window != active_window_) result.outcome = ports.tlbs.size() + 2;
    active_window_ = window;
  }
  return result;
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

/// `use` is the place in the path's caches of who served the load, or of the last one for DRAM.
Load MemorySystem::finish(const Ports& ports, const PathModel& path, std::size_t use,
                          const LatencyRow& row, const Translation& translation,
                          double jitter_cycles) const {
  std::uint32_t cycles = row[translation.outcome] + ports.slow_cycles;
  if (!path.caches.empty()) cycles += ports.offset_cycles[path.caches[use]];
  if (slice_of_ && use + 1 == path.caches.size()) {
    const std::int32_t offset_cycles = slice_offset(translation.physical, translation.partition);
    cycles = static_cast<std::uint32_t>(static_cast<std::int32_t>(cycles) + offset_cycles);
  }
  return {cycles, jitter_cycles};
}

std::int32_t MemorySystem::slice_offset(std::uint64_t physical, int partition) const {
  const int slice = partition * model_.slices->count + static_cast<int>((*slice_of_)(physical));
  return die_.slice_offset_cycles[static_cast<std::size_t>(slice)];
}

/// Two halves: look here if the line may be here, then at its home over there.
Load MemorySystem::load_partitioned(const Ports& ports, const PathModel& path, std::size_t use,
                                    Translation translation) const {
  const std::size_t cache = path.caches[use];
  const double jitter_cycles = model_.caches[cache].jitter_cycles;
  const std::uint64_t address = translation.physical;
  const int home = home_of(address, model_.partitions.home_mask);
  const bool home_is_near = home == ports.partition;
  translation.partition = ports.partition;
  if ((home_is_near || model_.partitions.replicate) && ports.caches[cache]->access(address)) {
    return finish(ports, path, use, path.hit[use], translation, jitter_cycles);
  }
  translation.partition = home;
  if (!home_is_near && ports.far[cache]->access(address)) {
    return finish(ports, path, use, path.far_hit, translation, jitter_cycles);
  }
  const LatencyRow& row = home_is_near ? path.dram : path.dram_far;
  return finish(ports, path, use, row, translation, model_.dram.jitter_cycles);
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

Load MemorySystem::load(int sm, const PathModel& path, std::uint64_t offset_bytes) {
  Ports& ports = ports_[static_cast<std::size_t>(sm)];
  std::optional<Translation> translation;
  std::uint64_t span_bytes = 1;
  for (std::size_t use = 0; use < path.caches.size(); ++use) {
    const CacheModel& cache = model_.caches[path.caches[use]];
    CacheArray& array = *ports.caches[path.caches[use]];
    if (cache.addressing == Addressing::virtual_address) {
      if (read_span(array, offset_bytes, span_bytes)) {
        return finish(ports, path, use, path.hit[use], {}, cache.jitter_cycles);
      }
    } else {
      if (!translation) translation = translate(ports, offset_bytes);
      if (ports.far[path.caches[use]] != nullptr) {
        return load_partitioned(ports, path, use, *translation);
      }
      bool hit = read_span(array, translation->physical, span_bytes);
      if (!hit && cache.prefetch) {
        hit = prefetched(ports.stream, *cache.prefetch, translation->physical, translation->cold);
      }
      if (hit) return finish(ports, path, use, path.hit[use], *translation, cache.jitter_cycles);
    }
    span_bytes = std::max(span_bytes, array.fetch_bytes());
  }
  if (!translation) translation = translate(ports, offset_bytes);
  const std::size_t last = path.caches.empty() ? 0 : path.caches.size() - 1;
  return finish(ports, path, last, path.dram, *translation, model_.dram.jitter_cycles);
}

/// Stores meet at the home of the line; a copy in the other half leaves.
void MemorySystem::store_partitioned(const Ports& ports, std::size_t cache,
                                     std::uint64_t physical) const {
  const bool home_is_near = home_of(physical, model_.partitions.home_mask) == ports.partition;
  CacheArray& near = *ports.caches[cache];
  CacheArray& far = *ports.far[cache];
  (home_is_near ? near : far).store(physical);
  (home_is_near ? far : near).drop(physical);
}

void MemorySystem::store(int sm, const PathModel& path, std::uint64_t offset_bytes) {
  Ports& ports = ports_[static_cast<std::size_t>(sm)];
  std::optional<Translation> translation;
  for (const std::size_t cache : path.caches) {
    if (model_.caches[cache].addressing == Addressing::virtual_address) {
      ports.caches[cache]->store(offset_bytes);
      continue;
    }
    if (!translation) translation = translate(ports, offset_bytes);
    if (ports.far[cache] != nullptr) {
      store_partitioned(ports, cache, translation->physical);
    } else {
      ports.caches[cache]->store(translation->physical);
    }
  }
}

}  // namespace sonde::sim
