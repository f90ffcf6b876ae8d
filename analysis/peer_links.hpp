// Which link from one GPU to the others of its node is slower than the rest. Input: one row of the
// matrix that jobs/peer/job.cpp measures. Pure.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

namespace sonde {

/// Links with fewer others cannot be told from what is usual.
inline constexpr std::size_t least_links = 3;

struct SlowLink {
  std::size_t place = 0;  // of the GPU at its other end, in the row
  double usual = 0;       // median of the links that do not stand out
  double fraction = 0;    // by which it is slower than that
};

/// Links that stand apart from the others of a row for the worse, the worst first: by 2 %, by six
/// times the noise, and by three times the range of those others. At most a third of the links do:
/// more are another way through the node (a second socket), not a fault.
/// @param rates [GPU of the node] the higher the better; NaN: not measured
/// @param noise_fraction standard deviation of one rate, as a fraction of it
/// @returns nothing for a row of fewer than `least_links`
std::vector<SlowLink> find_slow_links(std::span<const double> rates, double noise_fraction);

}  // namespace sonde
