// Chases over the lines of one set that distinguish replacement policies.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace sonde {

/// Number of lines that policy_trace accesses: 0 .. ways + 3.
constexpr std::uint32_t policy_trace_lines(std::uint32_t ways) { return ways + 4; }

/// The chase that best distinguishes policies, from an empty set; the same for the same arguments.
/// About half of its accesses are to lines that one known policy holds and another one has lost; it
/// always chooses the pair distinguished least so far. The rest is for unknown policies: rounds of
/// ways + 1 lines, random lines, repeated old lines, and scans. Four chases of max(1000, 5 x ways)
/// accesses distinguish all rules in up to 512 ways.
std::vector<std::uint16_t> policy_trace(std::uint32_t ways, std::size_t accesses,
                                        std::uint64_t seed);

/// Accesses lines 0 .. ways in cycles: one line more than fits. From the second round on exactly
/// one line is absent, and each miss reveals the victim of the miss before.
std::vector<std::uint16_t> cyclic_trace(std::uint32_t ways, std::size_t accesses);

/// Chooses `count` addresses that are as far apart as possible, up to 64 KiB: a prefetcher that
/// follows short strides would fetch lines before they are accessed. Returns all if they are fewer.
std::vector<std::uint64_t> choose_far_apart(const std::vector<std::uint64_t>& addresses,
                                            std::size_t count);

/// One launch; at its start the set holds none of the lines.
struct AccessRecord {
  std::vector<std::uint16_t> lines;  // line numbers in the order of the accesses
  std::vector<bool> missed;          // one for each access
};

}  // namespace sonde
