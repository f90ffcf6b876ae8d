// The end of a run that repeats its points until its time budget is over: ranks have come further
// or less far, and the file has the points that are whole on all GPUs.
#pragma once

#include "commands/measure/supervise.hpp"
#include "store/run_header.hpp"

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

namespace sonde {

/// How far a rank has come, for the others.
std::string describe_reach(const Supervised& mine);

/// How many points, from the first on, every rank has whole; a GPU that no process can measure any
/// more holds up nobody. Nothing if a rank was stopped by a signal, or not even one repeat is
/// whole: the run then waits for --resume.
/// @param reaches describe_reach of each rank
std::optional<std::size_t> whole_points(const RunPlan& plan,
                                        const std::vector<std::string>& reaches);

/// Leaves these points alone in a plan and in what the file will say of it.
void keep_points(std::size_t count, RunPlan& plan);

/// On rank 0: removes the shards of the points that the plan has not any more, and has the roster
/// say so. @throws StoreError
void remove_other_points(const RunPlan& all, const RunPlan& kept, Roster roster);

/// Of a run that lost ranks before it could agree: the roster with the points that all other GPUs
/// have finished, one at least.
Roster with_whole_points(const RunPlan& plan, Roster roster, const std::vector<int>& lost_ranks);

/// "12 repeats stand".
std::string describe_kept(const RunPlan& plan);

}  // namespace sonde
