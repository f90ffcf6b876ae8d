// Chases beside each other: each fills a part of a cache, on an SM and through a path of its own,
// and what they miss says whether they meet. Parts of the job sharing.
#pragma once

#include "analysis/sharing.hpp"
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
  double size_confidence = 1;  // that this size is right
  std::uint64_t line_bytes = 0;
  double inner_cycles = 0;        // loads up to this were answered before they came to it
  double miss_cycles = 0;         // loads above this missed it
  std::uint64_t space_bytes = 0;  // of constants or code: no offset lies beyond; 0: global memory
  /// What a list fills of the cache: one list fits, two do not, and even if one chase is half as
  /// fast as the other, enough of its lines come in between the accesses of the other.
  double filling = 0.7;

  std::uint64_t listed_lines() const;
  std::uint64_t list_bytes() const { return listed_lines() * line_bytes; }
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

/// A chase that finds so many of its lines in caches before the one in question is no chase through
/// that one.
inline constexpr double most_held_before = 0.25;

/// @param window_cycles of timed loads, at least one
AccessShares count_shares(const CoRunCache& cache, const std::vector<std::uint32_t>& window_cycles);

/// Shares of the recorded accesses of each chase, all at once.
/// @throws DeviceError, DeviceLostError
std::vector<AccessShares> co_run(JobRun& run, const std::string& label,
                                 const std::vector<ListChase>& chases, const Draw& draw);

/// Where the second of two lists begins: at a power of two, so that an index of XORs spreads it
/// over as many sets as the first one, if there is room.
std::uint64_t second_list_bytes(const CoRunCache& cache);

/// Two chases, each alone and both at once.
struct TwoChases {
  std::vector<AccessShares> alone;
  std::vector<AccessShares> both;  // empty: caches before them answer many accesses of one

  Loss loss(std::size_t chase) const { return judge_loss(alone[chase].missed, both[chase].missed); }
  bool both_lose(Loss loss_of_each) const {
    return !both.empty() && loss(0) == loss_of_each && loss(1) == loss_of_each;
  }
  /// Why they tell nothing of one cache that both are to fill; empty if they do.
  std::string obstacle() const;
};
TwoChases try_two(JobRun& run, const std::string& label, const ListChase& first,
                  const ListChase& second, const Draw& draw);

/// Makes lists longer or shorter until two of them on SM 0 overfill the cache and one does not, as
/// comparisons of two caches need it: what a list fills of the cache becomes so much.
/// @return why no lists do; empty if they do. What the device refuses is a reason
/// @throws DeviceLostError
std::string fit_lists(JobRun& run, CoRunCache& cache);

}  // namespace sonde
