// The end of a run that repeats its points until its time budget is over. Ranks have finished
// different numbers of points; the file gets the points that are complete on all GPUs.
#pragma once

#include "commands/measure/supervise.hpp"
#include "store/run_header.hpp"

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

namespace sonde {

/// A text with the number of points that this rank finished, for whole_points.
std::string describe_reach(const Supervised& mine);

/// The number of points, from the first on, that every rank has finished; GPUs that were given up
/// do not count. Nothing if a signal stopped a rank or no repeat is complete: --resume goes on.
/// @param reaches describe_reach of each rank
std::optional<std::size_t> whole_points(const RunPlan& plan,
                                        const std::vector<std::string>& reaches);

/// Keeps only the first `count` points in a plan and in its provenance.
void keep_points(std::size_t count, RunPlan& plan);

/// On rank 0: removes the shards of the points that are not in `kept`, and writes the roster
/// without these points. @throws StoreError
void remove_other_points(const RunPlan& all, const RunPlan& kept, Roster roster);

/// For a run that lost ranks before the ranks could agree: the roster with the points that all
/// other GPUs have finished, at least one repeat. GPUs that were given up do not count.
Roster with_whole_points(const RunPlan& plan, Roster roster, const std::vector<int>& lost_ranks);

/// "12 complete repeat(s) are kept".
std::string describe_kept(const RunPlan& plan);

}  // namespace sonde
