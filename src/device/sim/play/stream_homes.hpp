// Where the lines of a stream with groups are at home: play/stream.cpp asks for it.
#pragma once

#include "device/sim/play/launch.hpp"

#include <vector>

namespace sonde::sim {

/// The part of the chunks of each SM's group that lie at home in another partition of the L2, by
/// number of the SM. Empty for a stream without groups.
std::vector<double> far_shares(const Launch& launch, const StreamProbe& probe);

/// Bytes of all chunks that some group takes.
double grouped_bytes(const StreamProbe& probe);

}  // namespace sonde::sim
