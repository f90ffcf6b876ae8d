// Whether two results can be of one die: how far its slices of the L2 are from each SM belongs to
// the die, and stays (Alpay and Basaran, arXiv 2606.22588, told two cards apart by it). Dies of
// which the same parts are switched off look alike.
#pragma once

#include "analysis/results.hpp"

#include <string>

namespace sonde {

enum class SameDie { unknown, possible, no };

struct DieLikeness {
  SameDie same = SameDie::unknown;
  double correlation = 0;  // of the maps of L2 latency by SM, over all slices; NaN: not measured
  std::string reason;
};

/// Compares the maps by SM, and which SMs form GPCs. Neither UUIDs nor slots are looked at.
DieLikeness compare_dies(const DeviceResult& a, const DeviceResult& b);

}  // namespace sonde
