// Conclusions from the stamps of diverged warps: the order of their paths, whether paths of one or
// several warps run at the same time, and the cost of dividing and joining.
#pragma once

#include "trace/trace.hpp"

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace sonde {

/// One path of one warp: from the begin of its first thread to the end of its last.
struct PathSpan {
  int path = 0;
  std::uint64_t begin_cycles = 0;
  std::uint64_t end_cycles = 0;
};

struct WarpStamps {
  std::vector<PathSpan> paths;            // paths that threads took, by begin
  std::uint64_t before_cycles = 0;        // earliest of all threads
  std::uint64_t first_behind_cycles = 0;  // earliest of all threads
  std::uint64_t last_behind_cycles = 0;   // latest of all threads
};

/// @param lane clock_cycles of a BranchProbe
/// @param path_of_thread path that the probe gave to each thread
/// @throws Error if the lane does not have four stamps for each thread
WarpStamps read_warp(const LaneTrace& lane, std::span<const int> path_of_thread);

/// Path numbers in order of their begin.
std::vector<int> path_order(const WarpStamps& warp);

/// True if some two spans ran at the same time for at least half of the shorter one.
bool some_overlap(std::span<const PathSpan> paths);

/// The side of its branches that a diverged warp runs first, from the order of the paths of an else
/// chain (Wong 2010, figure 8): if taken sides run first, the last path runs first.
/// @return "taken" or "fall_through"; nothing for any other order
std::optional<std::string> first_run(std::span<const int> order);

/// From before the branch until all threads are past it.
double total_cycles(const WarpStamps& warp);

/// Mean length of the paths.
double path_cycles(const WarpStamps& warp);

/// The unit that a barrier counts, from the stamps of a diverged warp and the arrivals of another
/// warp (Wong 2010, listing 7). "thread": both halves pass with the first arrival. "warp": each
/// half needs an arrival. "path": each half counts as a warp; both pass before the other warp
/// comes.
/// @param cycles of the 64 threads of a WaitProbe with WaitProgram::diverged_barrier
/// @return nothing if the stamps fit none of these
std::optional<std::string> barrier_participant(std::span<const std::uint64_t> cycles);

}  // namespace sonde
