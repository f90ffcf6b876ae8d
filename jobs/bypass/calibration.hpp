// What a sweep over programs must know beforehand: how large the L1 can be, and what a hit and a
// miss of a warp alone take.
#pragma once

#include "jobs/bypass/sweep.hpp"

#include <cstdint>
#include <optional>
#include <utility>

namespace sonde {

/// An L1 size and the shared part that leaves it.
struct L1Part {
  std::uint64_t l1_bytes = 0;
  std::optional<std::uint64_t> shared_carveout_bytes;
};

/// The smallest and the largest L1 that earlier jobs found; the same where there is no choice.
std::pair<L1Part, L1Part> find_l1_parts(const JobRun& run, double size_bytes);

/// What the suite allows for the smallest and the largest L1; nothing is calibrated yet.
SweepSetup make_setup(const JobRun& run, const L1Part& small, const L1Part& large);

/// Sets what separates hits from misses, by a warp that loads the same lines again and again.
/// @return false if it is no faster through the L1 than past it
bool calibrate(JobRun& run, SweepSetup& setup);

/// Reports by path how many loads find in the L1 what they loaded before; NaN: the device has no
/// such loads.
void report_paths(JobRun& run, const SweepSetup& setup);

}  // namespace sonde
