// The memory side of a simulated GPU at work: one load in, its latency out. What happens follows
// from the state of caches, TLBs and page tables; how long each outcome takes is declared.
#pragma once

#include "device/probe.hpp"
#include "device/sim/die.hpp"
#include "device/sim/page_tables.hpp"

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
  /// @param path that all loads and stores of the probe take; must outlive it
  /// @param sms those that will load; others must not
  void begin_probe(const PathModel& path, std::uint64_t buffer_bytes, std::uint64_t shared_bytes,
                   const std::vector<int>& sms, std::uint64_t seed);

  /// One load by one thread.
  Load load(int sm, std::uint64_t offset_bytes);

  /// One store by one thread: what it does to each cache of the path, by its write policy.
  void store(int sm, std::uint64_t offset_bytes);

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
  /// One cache on the way of an SM's loads.
  struct Stop {
    const CacheModel* model = nullptr;
    CacheArray* array = nullptr;
    CacheArray* far = nullptr;        // the same in the other half of the L2, if there are two
    std::uint32_t offset_cycles = 0;  // of this SM
    bool sliced = false;              // lines have distances of their own
  };
  /// The way from one SM along the path of the probe.
  struct Route {
    std::vector<Stop> stops;
    std::vector<CacheArray*> tlbs;
    std::uint32_t slow_cycles = 0;
    int partition = 0;
    Stream stream;
  };

  CacheArray* ready(std::vector<Instance>& instances, int number, const CacheModel& model,
                    const Geometry& geometry);
  Route open_route(int sm, std::uint64_t shared_bytes);
  Stop open_stop(const SmPlace& place, int sm, std::size_t cache, std::uint64_t shared_bytes);
  std::uint64_t address_of(std::uint64_t offset_bytes) const;
  Translation translate(const Route& route, std::uint64_t address);
  static bool prefetched(Stream& stream, const Prefetch& prefetch, std::uint64_t address,
                         bool cold);
  static bool read_span(CacheArray& array, std::uint64_t address, std::uint64_t span_bytes);
  Load load_partitioned(const Route& route, std::size_t at, const Translation& translation,
                        std::uint64_t span_bytes) const;
  void store_partitioned(const Route& route, const Stop& stop, std::uint64_t physical) const;
  Load finish(const Route& route, std::size_t at, const LatencyRow& row,
              const Translation& translation, int partition, double jitter_cycles) const;
  std::int32_t slice_offset(std::uint64_t physical, int partition) const;

  const Model& model_;
  const Die& die_;
  const PathModel* path_ = nullptr;
  std::vector<std::vector<Instance>> caches_;
  std::vector<std::vector<Instance>> tlbs_;
  std::vector<Route> routes_;  // by SM
  PageTables pages_;
  std::optional<SetIndex> slice_of_;
  std::uint64_t probe_ = 0;
  std::uint64_t probe_seed_ = 0;
};

}  // namespace sonde::sim
