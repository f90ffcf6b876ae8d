// The shared memory that a chase takes: its record, its histogram, and lists that no chain can
// hold. The simulator uses it to refuse what a real GPU would refuse.
#pragma once

#include "device/layout/carveout.hpp"
#include "device/probe/probe.hpp"

#include <cstdint>

namespace sonde::layout {

/// True if the lists lie in shared memory: lists of code always, lists of data if a sector is
/// accessed more often than it has words.
/// @pre the lanes take one load path
bool needs_script(const ChaseProbe& probe);

/// Bytes that a block takes: the sink of its loads and, for each warp of the SM with the most
/// lanes, its record, its histogram if not all is recorded, and the longest list if `is_script`.
/// @pre the lanes take one load path
std::uint64_t chase_shared_bytes(const ChaseProbe& probe, bool is_script);

/// The carve-out of a chase; if its lanes take two load paths, each path has half.
/// @throws ProbeTooLargeError as plan_shared; DeviceError as split_by_path, and for an amortised
/// chase through code
SharedPlan plan_chase(const DeviceInfo& info, const ChaseProbe& probe);

}  // namespace sonde::layout
