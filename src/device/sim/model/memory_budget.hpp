// How much memory of the host a model would take, counted while it is read: the arrays of
// src/device/sim/memory are made later, when a probe needs them.
#pragma once

#include "device/sim/model/json_fields.hpp"
#include "device/sim/model/model.hpp"

namespace sonde::sim {

class MemoryBudget {
 public:
  /// @param partitions of the L2
  MemoryBudget(const ChipModel& chip, int partitions) : chip_(chip), partitions_(partitions) {}

  /// A cache or a TLB follows. Its arrays are of one geometry at a time, so the largest counts.
  void begin_cache() { cache_bytes_ = 0; }

  /// Counts the arrays of a geometry: one for each of those that share the cache.
  /// @param ways of the largest set
  /// @throws ConfigError at `key` if all together would take more than limits::host_bytes
  void spend_arrays(const Fields& fields, const std::string& key, Scope scope, std::uint64_t sets,
                    std::uint64_t ways);

  /// Counts the page tables of a buffer as large as the memory.
  void spend_page_tables(const Fields& fields, const PageModel& pages, std::uint64_t memory_bytes);

 private:
  void spend(const Fields& fields, const std::string& key, double size_bytes);

  ChipModel chip_;
  int partitions_;
  double spent_bytes_ = 0;
  double cache_bytes_ = 0;  // of them, for the arrays of the cache that is being read
};

}  // namespace sonde::sim
