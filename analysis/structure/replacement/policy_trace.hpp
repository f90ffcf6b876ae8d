// Chases over the lines of one set that make replacement policies differ.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace sonde {

/// Lines of one set that policy_trace accesses: 0 .. ways + 3.
constexpr std::uint32_t policy_trace_lines(std::uint32_t ways) { return ways + 4; }

/// The chase that distinguishes policies best, from an empty set: about half of its accesses are to
/// lines that one known policy holds there and another one has lost, chosen for the pair
/// distinguished least so far; the rest are rounds of ways + 1 lines, random lines, old lines
/// touched again and scans, for policies that nobody listed. The same for the same arguments. Four
/// chases of max(1000, 5 x ways) accesses distinguish all rules in up to 512 ways.
std::vector<std::uint16_t> policy_trace(std::uint32_t ways, std::size_t accesses,
                                        std::uint64_t seed);

/// Lines 0 .. ways again and again: one line more than fits, so that from the second round on
/// exactly one line is absent and each miss tells the victim of the miss before.
std::vector<std::uint16_t> cyclic_trace(std::uint32_t ways, std::size_t accesses);

/// `count` of these addresses, the first of those that lie as far apart as so many can, up to 64
/// KiB: a prefetcher that follows short strides would bring lines before they are accessed. All of
/// them if they are fewer.
std::vector<std::uint64_t> choose_far_apart(const std::vector<std::uint64_t>& addresses,
                                            std::size_t count);

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
