// Splits a chase whose lanes take two load paths. A kernel loads through one path, so the lanes of
// each path have a launch of their own; both run at once.
#pragma once

#include "device/probe/probe.hpp"

#include <cstddef>
#include <vector>

namespace sonde::layout {

struct PathPart {
  ChaseProbe probe;                // the same chase without the other lanes
  std::vector<std::size_t> lanes;  // [lane of the part] its number in the whole chase
};

/// Splits a chase by path. Code comes first: the flush of the data part, which comes last, then
/// leaves the buffer untouched. Parts in global memory span the same buffer, so they lie at the
/// same place; the buffer of code ends with what is executed.
/// @pre its lanes differ in path
/// @throws DeviceError if there are more than two paths, or they cannot be played at once: lanes in
/// turn, co-runners, a peer's memory, an overlapped warm-up, two kinds of textures, sectors that
/// both would fill with words of their own
std::vector<PathPart> split_by_path(const ChaseProbe& probe);

}  // namespace sonde::layout
