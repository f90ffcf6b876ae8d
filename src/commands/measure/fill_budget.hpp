// The end of a run that repeats its points until its time budget is over. Ranks have finished
// different numbers of points; the file gets the points that are complete on all GPUs.
#pragma once

#include "commands/measure/run_plan.hpp"
#include "store/run_header.hpp"

#include <cstddef>
#include <string>
#include <vector>

namespace sonde {

/// The number of points, from the first on, that every GPU has finished, by the shards. GPUs that
/// were given up, and those of lost ranks, do not count.
std::size_t whole_points(const RunPlan& plan, const Roster& roster,
                         const std::vector<int>& lost_ranks = {});

/// Keeps only the first `count` points.
void keep_points(std::size_t count, RunPlan& plan);
void keep_points(std::size_t count, Provenance& provenance);

/// On rank 0: removes the shards of all but the first `count` points, and writes the roster without
/// these points. @throws StoreError
void remove_other_points(const RunPlan& plan, std::size_t count, Roster roster);

/// "12 complete repeat(s) are kept".
std::string describe_kept(const RunPlan& plan);

}  // namespace sonde
