// The shared memory that a chase takes: its record, its histogram, and lists that no chain can
// hold. A backend that plays no kernels refuses with it what a real GPU would.
#pragma once

#include "device/layout/carveout.hpp"
#include "device/probe/probe.hpp"

#include <cstdint>

namespace sonde::layout {

/// Whether the lists stand in shared memory: always those of code; those of data where a sector is
/// accessed more often than it has words.
/// @pre the lanes take one load path
bool needs_script(const ChaseProbe& probe);

/// What a block takes: the sink of its loads, and for each warp of the SM with the most lanes its
/// record, its histogram if not all is recorded, and the longest list if it stands there.
/// @pre the lanes take one load path
std::uint64_t chase_shared_bytes(const ChaseProbe& probe, bool is_script);

/// How the L1 array is divided for a chase: of lanes of two load paths, each takes half.
/// @throws ProbeTooLargeError as plan_shared; DeviceError as split_by_path, and for code that is to
/// be amortised
SharedPlan plan_chase(const DeviceInfo& info, const ChaseProbe& probe);

}  // namespace sonde::layout
