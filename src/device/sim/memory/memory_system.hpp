// The memory side of a simulated GPU at work: one load in, its latency out. What happens follows
// from the state of caches, TLBs and page tables; how long each outcome takes is declared.
#pragma once

#include "device/probe.hpp"
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
  std::uint32_t first_set = 0;  // in the first cache of the path
  std::uint32_t last_set = 0;   // in the last
  std::uint32_t home = 0;       // partition of the L2
};

class MemorySystem {
 public:
  /// Keeps references to model and die.
  MemorySystem(const Model& model, const Die& die);

  /// Nothing of the buffer is in any cache, TLB or page table cache.
  /// @param path that all loads and stores of the probe take; must outlive it
  /// @param buffer_offset_bytes where in the memory the buffer begins, where the path reads that
  /// @param sms those that will load; others must not
  void begin_probe(const PathModel& path, std::uint64_t buffer_offset_bytes,
                   std::uint64_t buffer_bytes, std::uint64_t shared_bytes,
                   const std::vector<int>& sms, std::uint64_t seed);

  /// Where a load of `offset_bytes` goes. @pre the SM is one of begin_probe's
  Access locate(int sm, std::uint64_t offset_bytes) const;

  /// To be called a few loads ahead, so that the host can fetch what the load needs. Nothing of the
  /// simulated GPU changes. Without this the structure jobs of the H200, whose L2 and L1s exceed
  /// the caches of hosts, take a third longer.
  void expect(int sm, const Access& access) const;

  /// One load by one thread.
  Load load(int sm, const Access& access);

  /// From now on, until the next probe begins, these SMs make reductions on their lines.
  void start_co_runners(const std::vector<CoRunner>& runners);
  /// How long a load waits because of them.
  std::uint32_t wait_cycles(int sm, const Access& access) const;

  /// One store by one thread: what it does to each cache of the path, by its write policy.
  void store(int sm, std::uint64_t offset_bytes);

  /// @throws DeviceError if the device has no such path
  const PathModel& path(LoadPath path) const;

 private:
  std::uint64_t address_of(std::uint64_t offset_bytes) const;
  std::uint32_t home_of(std::uint64_t physical) const;
  Translation translate(const Route& route, const Access& access);
  Load load_partitioned(Route& route, const Access& access, std::size_t outcome,
                        std::uint64_t span_bytes) const;
  Load answer(const Source& source, std::size_t outcome) const {
    return {source.latency_cycles[outcome], source.jitter_cycles};
  }
  std::size_t slice_number(std::uint32_t partition, std::uint64_t physical) const {
    return partition * static_cast<std::size_t>(model_.slices->count) + (*slice_of_)(physical);
  }
  Load answer_sliced(const Route& route, const Source& source, std::size_t outcome,
                     std::uint64_t physical, std::uint32_t partition) const;

  const Model& model_;
  const Die& die_;
  Arrays arrays_;
  PageTables pages_;
  std::optional<SetIndex> slice_of_;
  const PathModel* path_ = nullptr;
  std::uint64_t base_ = 0;     // of the addresses of the buffer
  bool translated_ = true;     // addresses of global memory
  bool copied_ = false;        // the partition of an SM may hold copies for this path
  bool crowded_ = false;       // first caches of many SMs: together larger than the host's
  std::vector<Route> routes_;  // by SM
  std::vector<int> reducing_sms_by_slice_;
  std::vector<int> reducing_sms_by_gpc_;
};

}  // namespace sonde::sim
