// What the stamps of diverged warps say: in which order their paths ran, whether paths of one warp
// or of several ran at the same time, and what dividing and joining cost. Input of
// jobs/control/job.cpp.
#pragma once

#include "trace/trace.hpp"

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace sonde {

/// One path of one warp: from the first of its threads to the last.
struct PathSpan {
  int path = 0;
  int warp = 0;
  std::uint64_t begin_cycles = 0;
  std::uint64_t end_cycles = 0;
};

/// Stamps of one warp.
struct WarpStamps {
  std::vector<PathSpan> paths;            // those that threads took, by begin
  std::uint64_t before_cycles = 0;        // the earliest of all threads
  std::uint64_t first_behind_cycles = 0;  // the earliest of all threads
  std::uint64_t last_behind_cycles = 0;   // the latest
};

/// @param lane clock_cycles as a BranchProbe gives them
/// @param path_of_thread as it was asked for
/// @throws Error if the lane has not four stamps for each thread
WarpStamps read_warp(const LaneTrace& lane, std::span<const int> path_of_thread);

/// Path numbers in the order of their begin.
std::vector<int> path_order(const WarpStamps& warp);

/// Whether some two of the spans ran at the same time for at least half of the shorter one.
bool some_overlap(std::span<const PathSpan> paths);

/// Which side of its branches a diverged warp runs first, by the order of the paths of an else
/// chain (Wong 2010, figure 8): the last path first if the taken sides go first.
/// @return "taken" or "fall_through"; nothing for any other order
std::optional<std::string> first_run(std::span<const int> order);

/// From before the branch until all threads are behind it.
double total_cycles(const WarpStamps& warp);

/// Mean length of the paths.
double path_cycles(const WarpStamps& warp);

/// From the end of the last path until all threads are behind the branch.
double tail_cycles(const WarpStamps& warp);

/// What a barrier counts, by the stamps of a diverged warp at it and of the arrivals of another one
/// (Wong 2010, listing 7). "thread": both halves pass with the first arrival. "warp": each half
/// needs an arrival of its own. "path": each half counts as a warp, so that both pass before the
/// other warp comes.
/// @param cycles of the 64 threads of a WaitProbe with WaitProgram::diverged_barrier
/// @return nothing if the stamps fit none of them
std::optional<std::string> barrier_participant(std::span<const std::uint64_t> cycles);

}  // namespace sonde
