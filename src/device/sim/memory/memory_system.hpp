// The memory side of a simulated GPU: it takes one load and returns its latency. The state of
// caches, TLBs and page tables decides the outcome; the model declares how long each outcome takes.
#pragma once

#include "device/probe/probe.hpp"
#include "device/sim/memory/page_tables.hpp"
#include "device/sim/memory/routes.hpp"

namespace sonde::sim {

struct Load {
  std::uint32_t latency_cycles = 0;  // without noise
  double jitter_cycles = 0;  // standard deviation, of the cache or DRAM that served the load
};

/// The addresses of a load, found before any cache is asked.
struct Access {
  std::uint64_t address = 0;  // as virtually addressed caches and TLBs see it
  std::uint64_t physical = 0;
  std::uint32_t home = 0;  // L2 partition of the line
};

class MemorySystem {
 public:
  /// Keeps references to model and die.
  MemorySystem(const Model& model, const Die& die);

  /// Begins a probe: no cache, TLB or page-table cache holds anything of the buffer.
  /// @param buffer_address where the buffer begins, for the paths that read it
  /// @param lanes the SMs and paths that will load; others must not
  /// @throws DeviceError if the device lacks one of the paths
  void begin_probe(std::uint64_t buffer_address, std::uint64_t buffer_bytes,
                   std::uint64_t shared_bytes, const std::vector<ChaseLane>& lanes,
                   std::uint64_t seed);

  /// Number of the route of a lane's loads and stores; there is one route for each SM and path.
  std::size_t route_of(const ChaseLane& lane) const {
    return static_cast<std::size_t>(lane.path) * die_.sms.size() +
           static_cast<std::size_t>(lane.sm);
  }

  /// Finds the addresses of a load. Call it a few loads ahead: it also prefetches into the host's
  /// caches what the load needs of the last cache.
  /// @param number route_of() a lane of begin_probe()
  Access locate(std::size_t number, std::uint64_t offset_bytes) const;

  /// Plays one load by one thread; for code, executes from there to the end of the block.
  Load load(std::size_t number, const Access& access);

  /// From now on another process has lines in the L2 and makes loads that delay ours; without a
  /// neighbour this ends.
  void share_with(const std::optional<Neighbour>& neighbour, std::uint64_t seed);

  /// From now on, until the next probe begins, these SMs make reductions on their lines.
  void start_co_runners(const std::vector<CoRunner>& runners);
  /// How long a load of the lane waits because of the co-runners.
  std::uint32_t wait_cycles(const ChaseLane& lane, const Access& access) const;

  /// Plays one store by one thread: each cache of the path acts by its write policy.
  void store(std::size_t number, std::uint64_t offset_bytes);

  /// @throws DeviceError if the device has no such path
  const PathModel& path(LoadPath path) const;

 private:
  Load fetch(std::size_t number, const Access& access);
  Load load_beside_neighbour(std::size_t number, const Access& access);
  Load execute(std::size_t number, const Access& access);
  std::uint32_t home_of(std::uint64_t physical) const;
  Translation translate(const Route& route, const Access& access);
  Load load_partitioned(Route& route, const Access& access, std::size_t outcome,
                        std::uint64_t span_bytes) const;
  std::size_t slice_number(std::uint32_t partition, std::uint64_t physical) const {
    return partition * static_cast<std::size_t>(model_.slices->count) + (*slice_of_)(physical);
  }
  /// The address by which the last cache of the route finds the line.
  static std::uint64_t last_address(const Route& route, const Access& access) {
    return route.virtual_levels == route.levels.size() ? access.address : access.physical;
  }
  std::int64_t slice_cycles(const Route& route, std::uint64_t physical,
                            std::uint32_t partition) const;

  const Model& model_;
  const Die& die_;
  Arrays arrays_;
  PageTables pages_;
  std::optional<SliceIndex> slice_of_;
  /// Added to hits of copies, subtracted from hits of lines at home.
  std::int64_t half_copy_cycles_;
  std::vector<Route> routes_;  // by route_of()
  std::uint64_t buffer_address_ = 0;
  std::vector<int> reducing_sms_by_slice_;
  std::vector<int> reducing_sms_by_gpc_;
  double neighbour_share_ = 0;  // 0: there is none
  Random neighbour_draws_{0};
};

}  // namespace sonde::sim
