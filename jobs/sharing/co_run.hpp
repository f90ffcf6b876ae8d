// Chases beside each other: each fills a part of a cache, on an SM and through a path of its own,
// and what they miss says whether they meet. Parts of the job sharing.
#pragma once

#include "jobs/chase/pointer_chase.hpp"

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace sonde {

/// A cache that other jobs found, as chases of the job sharing see it.
struct CoRunCache {
  std::string name;  // as metrics name it: "cache.l1"
  ChaseSetup chase;  // as it was found with: the carve-out decides the size of an L1
  double size_bytes = 0;
  std::uint64_t line_bytes = 0;
  double inner_cycles = 0;        // loads up to this were answered before they came to it
  double miss_cycles = 0;         // loads above this missed it
  std::uint64_t space_bytes = 0;  // of constants or code: no offset lies beyond; 0: global memory

  /// Lines of a list that fills 0.7 of the cache: one list fits, two do not, and even if one chase
  /// is half as fast as the other, enough of its lines come in between the accesses of the other.
  std::uint64_t listed_lines() const;
};

/// A chase through one list.
struct ListChase {
  const CoRunCache* cache = nullptr;
  int sm = 0;
  std::uint64_t base_bytes = 0;  // where its lines begin
};

/// How many of its accesses a chase ...
struct AccessShares {
  double missed = 0;       // missed the cache
  double held_before = 0;  // found in a cache before it
};

/// What changes from one replicate to the next.
struct CoRunDraw {
  Place place = 0;
  std::uint64_t seed = 0;  // of the order of accesses
};

/// Shares of the recorded accesses of each chase, all at once or one after the other.
/// @throws DeviceError, DeviceLostError
std::vector<AccessShares> co_run(JobRun& run, const std::string& label,
                                 const std::vector<ListChase>& chases, const CoRunDraw& draw,
                                 Concurrency concurrency = Concurrency::together);

}  // namespace sonde
