// Finds slow links from one GPU to the others of its node. Input: a row of the matrix of jobs/peer.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

namespace sonde {

/// With fewer links there is no usual rate to compare with.
inline constexpr std::size_t least_links = 3;

struct SlowLink {
  std::size_t place = 0;  // index in the row of the GPU at the other end
  double usual = 0;       // median of the other links
  double fraction = 0;    // by which it is slower
};

/// Links that are slower than the others of a row, the worst first: by 2 %, by six times the noise,
/// and by three times the range of the others. At most a third of the links: more are another path
/// through the node (a second socket), not a fault.
/// @param rates [GPU of the node] higher is better; NaN: not measured
/// @param noise_fraction relative standard deviation of one rate
/// @returns nothing for fewer than `least_links` links
std::vector<SlowLink> find_slow_links(std::span<const double> rates, double noise_fraction);

}  // namespace sonde
