// The memory side of a simulated GPU at work: one load in, its latency out. What happens follows
// from the state of caches, TLBs and page tables; how long each outcome takes is declared.
#pragma once

#include "device/probe/probe.hpp"
#include "device/sim/memory/page_tables.hpp"
#include "device/sim/memory/routes.hpp"

namespace sonde::sim {

/// What a load took.
struct Load {
  std::uint32_t latency_cycles = 0;  // without noise
  double jitter_cycles = 0;          // of whoever served it
};

/// Where a load goes: what is known of it before any cache is asked.
struct Access {
  std::uint64_t address = 0;  // that virtually addressed caches and TLBs see
  std::uint64_t physical = 0;
  std::uint32_t home = 0;  // partition of the L2
};

class MemorySystem {
 public:
  /// Keeps references to model and die.
  MemorySystem(const Model& model, const Die& die);

  /// Nothing of the buffer is in any cache, TLB or page table cache.
  /// @param buffer_address where the buffer begins, for the paths that read it
  /// @param lanes the SMs that will load, and their paths; others must not
  /// @throws DeviceError if the device lacks one of the paths
  void begin_probe(std::uint64_t buffer_address, std::uint64_t buffer_bytes,
                   std::uint64_t shared_bytes, const std::vector<ChaseLane>& lanes,
                   std::uint64_t seed);

  /// Number of the route that the loads and stores of a lane take: one for each SM and path.
  std::size_t route_of(const ChaseLane& lane) const {
    return static_cast<std::size_t>(lane.path) * die_.sms.size() +
           static_cast<std::size_t>(lane.sm);
  }

  /// Where a load of `offset_bytes` goes, to be asked a few loads ahead: the host then fetches what
  /// the load needs of the last cache. @param number of a route of begin_probe's lanes
  Access locate(std::size_t number, std::uint64_t offset_bytes) const;

  /// One load by one thread; of code, one block from there on.
  Load load(std::size_t number, const Access& access);

  /// From now on loads meet the lines of a neighbour in the L2, and wait for its loads, or no more.
  void share_with(const std::optional<Neighbour>& neighbour, std::uint64_t seed);

  /// From now on, until the next probe begins, these SMs make reductions on their lines.
  void start_co_runners(const std::vector<CoRunner>& runners);
  /// How long a load of the lane waits because of them.
  std::uint32_t wait_cycles(const ChaseLane& lane, const Access& access) const;

  /// One store by one thread: what it does to each cache of the path, by its write policy.
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
  /// The one by which the last cache knows the line.
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
  std::int64_t
      half_copy_cycles_;       // hits of copies are so much slower, those of lines at home faster
  std::vector<Route> routes_;  // as route_of counts
  std::uint64_t buffer_address_ = 0;
  std::vector<int> reducing_sms_by_slice_;
  std::vector<int> reducing_sms_by_gpc_;
  double neighbour_share_ = 0;  // 0: there is none
  Random neighbour_draws_{0};
};

}  // namespace sonde::sim
