// Simultaneous chases, each over a part of a cache, on its own SM and path. Their misses show
// whether they use the same cache. Part of the job sharing.
#pragma once

#include "analysis/sharing.hpp"
#include "jobs/chase/pointer_chase.hpp"

#include <cstdint>
#include <string>
#include <vector>

namespace sonde {

/// A cache that other jobs found, as the job sharing uses it.
struct CoRunCache {
  std::string name;  // prefix of its metrics: "cache.l1"
  ChaseSetup chase;  // the setup it was found with: the carve-out sets the size of an L1
  double size_bytes = 0;
  double size_confidence = 1;  // in this size
  std::uint64_t line_bytes = 0;
  double inner_cycles = 0;        // loads up to this hit an inner cache
  double miss_cycles = 0;         // loads above this missed this cache
  std::uint64_t space_bytes = 0;  // size of the space of constants or code; 0: global memory
  /// Share of the cache that a list fills: one list fits, two do not. Even if one chase is half as
  /// fast, enough of its lines come between the accesses of the other.
  double filling = 0.7;

  std::uint64_t listed_lines() const;
  std::uint64_t list_bytes() const { return listed_lines() * line_bytes; }
};

struct ListChase {
  const CoRunCache* cache = nullptr;
  int sm = 0;
  std::uint64_t base_bytes = 0;  // where its lines begin
};

/// Shares of the accesses of a chase.
struct AccessShares {
  double missed = 0;       // missed the cache
  double held_before = 0;  // hit an inner cache
};

/// @param window_cycles windows of timed loads, at least one
AccessShares count_shares(const CoRunCache& cache, const std::vector<std::uint32_t>& window_cycles);

/// Shares of the recorded accesses of each chase; all chases run at once.
/// @throws DeviceError, DeviceLostError
std::vector<AccessShares> co_run(JobRun& run, const std::string& label,
                                 const std::vector<ListChase>& chases, const Draw& draw);

/// Where the second of two lists begins: at a power of two if there is room, so that an index of
/// XORs spreads it over as many sets as the first list.
std::uint64_t second_list_bytes(const CoRunCache& cache);

/// Two chases, each alone and both at once.
struct TwoChases {
  std::vector<AccessShares> alone;
  std::vector<AccessShares> both;  // empty if inner caches answer many accesses of one

  Loss loss(std::size_t chase) const { return judge_loss(alone[chase].missed, both[chase].missed); }
  bool both_lose(Loss loss_of_each) const {
    return !both.empty() && loss(0) == loss_of_each && loss(1) == loss_of_each;
  }
  /// Why the chases say nothing about one cache that both should fill; empty if they do.
  std::string obstacle() const;
};
/// @throws DeviceError, DeviceLostError
TwoChases try_two(JobRun& run, const std::string& label, const ListChase& first,
                  const ListChase& second, const Draw& draw);

/// Changes the length of lists until two of them on SM 0 overfill the cache and one does not, and
/// sets `cache.filling` to match.
/// @return why no length does; empty if one does. A refusal of the device is a reason
/// @throws DeviceLostError
std::string fit_lists(JobRun& run, CoRunCache& cache);

}  // namespace sonde
