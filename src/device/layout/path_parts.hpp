// A chase whose lanes take two load paths, taken apart: a kernel loads through one path, so the
// lanes of each are played by a launch of their own, both at once.
#pragma once

#include "device/probe/probe.hpp"

#include <cstddef>
#include <vector>

namespace sonde::layout {

/// The lanes of one path.
struct PathPart {
  ChaseProbe probe;                // the same chase without the other lanes
  std::vector<std::size_t> lanes;  // [lane of the part] which one it is of the whole chase
};

/// The parts of a chase, code first: what empties the caches for data then leaves their buffer
/// alone. Parts in global memory span the same buffer, and so lie at the same place; of code it is
/// no longer than what is executed.
/// @pre its lanes differ in path
/// @throws DeviceError if there are more than two paths, or they cannot be played at once: lanes in
///   turn, co-runners, a peer's memory, an overlapped warm-up, two kinds of textures, sectors that
///   both would fill with words of their own
std::vector<PathPart> split_by_path(const ChaseProbe& probe);

}  // namespace sonde::layout
