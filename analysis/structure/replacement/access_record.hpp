// What was seen of one cache set: the chase over its lines and what missed. Between the traces of
// chases that access one set alone and everything that tells its ways and its replacement.
#pragma once

#include <cstdint>
#include <vector>

namespace sonde {

/// One launch on a set that held none of the lines at the start.
struct AccessRecord {
  std::vector<std::uint16_t> lines;  // numbers of lines of that set, in the order of the accesses
  std::vector<bool> missed;          // outcome of each access
};

/// How well a prediction met a record. First accesses, which miss under every policy, count only as
/// accesses; so outliers (slow accesses that were no misses) cost a good prediction little, and a
/// policy that predicts next to no misses gets no credit for all the hits of a large set.
struct OutcomeTally {
  std::uint64_t accesses = 0;
  std::uint64_t explained = 0;
  std::uint64_t predicted_misses = 0;
  std::uint64_t false_alarms = 0;  // predicted misses that were hits
  std::uint64_t seen_misses = 0;
  std::uint64_t surprises = 0;  // seen misses that were predicted to hit

  enum class Access { first, later };
  void count(Access access, bool predicted_miss, bool seen_miss) {
    ++accesses;
    explained += predicted_miss == seen_miss;
    if (access == Access::first) return;
    predicted_misses += predicted_miss;
    false_alarms += predicted_miss && !seen_miss;
    seen_misses += seen_miss;
    surprises += seen_miss && !predicted_miss;
  }

  OutcomeTally& operator+=(const OutcomeTally& other);

  double agreement() const {
    return accesses == 0 ? 0 : static_cast<double>(explained) / static_cast<double>(accesses);
  }

  /// At least 0.99 of the accesses and 0.95 of the predicted misses are met; misses come as a
  /// surprise as seldom as outliers do (one in 10^4; 3 in 10^3 are tolerated)
  /// and a few more.
  bool convincing() const;
};

}  // namespace sonde
