// Which of the processes that work on a GPU are others.
#pragma once

#include <vector>

namespace sonde::cuda {

/// Compute processes as NVML numbers them. In a container it may number them as the host does, so
/// that a process does not find itself by its own number.
using Processes = std::vector<unsigned>;

/// Those of `after` that are this process: the one of its number; or, if it is not among them,
/// those that came while it made its context.
Processes find_own(const Processes& before, const Processes& after, unsigned self);

/// Of these processes, those that are not among `own`.
int count_others(const Processes& processes, const Processes& own);

}  // namespace sonde::cuda
