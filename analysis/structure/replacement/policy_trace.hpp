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

}  // namespace sonde
