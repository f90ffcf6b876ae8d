// The memory side of a simulated GPU at work: one load in, its latency out. What happens follows
// from the state of caches, TLBs and page tables; how long each outcome takes is declared.
#pragma once

#include "device/probe.hpp"
#include "device/sim/cache_array.hpp"
#include "device/sim/die.hpp"

#include <memory>

namespace sonde::sim {

/// A load's way through the hierarchy.
struct Load {
  std::uint32_t latency_cycles = 0;  // without noise
  double jitter_cycles = 0;          // of whoever served it
};

class MemorySystem {
 public:
  /// Keeps references to model and die.
  MemorySystem(const Model& model, const Die& die);

  /// A new buffer, at new physical pages: nothing of it is in any cache, TLB or page table cache.
  /// @param sms those that will load; others must not
  void begin_probe(std::uint64_t buffer_bytes, std::uint64_t shared_bytes,
                   const std::vector<int>& sms, std::uint64_t seed);

  /// One load by one thread. @throws DeviceError if the device has no such path
  Load load(int sm, const PathModel& path, std::uint64_t offset_bytes);

  /// One store by one thread: what it does to each cache of the path, by its write policy.
  void store(int sm, const PathModel& path, std::uint64_t offset_bytes);

  /// @throws DeviceError if the device has no such path
  const PathModel& path(LoadPath path) const;

 private:
  struct Instance {
    std::unique_ptr<CacheArray> array;
    const Geometry* geometry = nullptr;
    std::uint64_t probe = 0;  // the last one that used it
  };
  /// A stream of the sequential prefetcher.
  struct Stream {
    std::uint64_t next = 0;
    std::uint64_t end = 0;
  };
  /// What one SM reaches.
  struct Ports {
    std::vector<CacheArray*> caches;  // by place in Model::caches
    std::vector<CacheArray*> far;     // the same in the other partition, or null
    std::vector<CacheArray*> tlbs;
    std::vector<std::uint32_t> offset_cycles;  // by place in Model::caches
    std::uint32_t slow_cycles = 0;
    int partition = 0;
    Stream stream;
  };
  struct Translation {
    std::uint64_t physical = 0;
    std::size_t outcome = 0;
    bool cold = false;  // the page table entry had not been read before
    int partition = 0;  // where the load is served
  };

  CacheArray* ready(std::vector<Instance>& instances, int number, const CacheModel& model,
                    const Geometry& geometry);
  void open_ports(int sm, std::uint64_t shared_bytes);
  Translation translate(Ports& ports, std::uint64_t offset_bytes);
  std::uint64_t to_physical(std::uint64_t offset_bytes) const;
  static bool prefetched(Stream& stream, const Prefetch& prefetch, std::uint64_t address,
                         bool cold);
  static bool read_span(CacheArray& array, std::uint64_t address, std::uint64_t span_bytes);
  Load load_partitioned(const Ports& ports, const PathModel& path, std::size_t use,
                        Translation translation) const;
  void store_partitioned(const Ports& ports, std::size_t cache, std::uint64_t physical) const;
  Load finish(const Ports& ports, const PathModel& path, std::size_t use, const LatencyRow& row,
              const Translation& translation, double jitter_cycles) const;
  std::int32_t slice_offset(std::uint64_t physical, int partition) const;

  const Model& model_;
  const Die& die_;
  std::vector<std::vector<Instance>> caches_;
  std::vector<std::vector<Instance>> tlbs_;
  std::vector<Ports> ports_;  // by SM
  std::optional<SetIndex> slice_of_;
  std::vector<bool> walked_;  // by page of the buffer
  std::uint64_t active_window_ = 0;
  std::uint64_t page_key_ = 0;
  int page_shift_ = 0;
  std::uint64_t probe_ = 0;
  std::uint64_t probe_seed_ = 0;
};

}  // namespace sonde::sim
