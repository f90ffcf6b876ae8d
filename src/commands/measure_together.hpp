// Jobs between the GPUs of a node, once each has been measured by itself. Runs in a worker process,
// without MPI.
#pragma once

#include "commands/measure.hpp"
#include "fleet/assign.hpp"
#include "fleet/turns.hpp"

#include <functional>
#include <string>
#include <vector>

namespace sonde {

/// Whether the run has such jobs.
bool has_jobs_together(const MeasurePlan& plan);

/// The GPUs that this run measures on the node of a rank, by rank.
/// @param visible what that rank sees
std::vector<NodeGpu> gpus_of_node(const std::vector<RankView>& views, const Assignment& assignment,
                                  int rank, const BackendChoice& backend,
                                  const std::vector<DeviceChoice>& visible);

/// Of the node that has most.
std::size_t most_gpus_of_node(const std::vector<RankView>& views, const Assignment& assignment);

/// How long ranks of a node wait for each other in this run.
TurnLimits turn_limits(const MeasurePlan& plan);

/// Runs those jobs over the node that the shard of the device lacks, and adds them, all at
/// once in the end. One that gives no answer has the reason; it does so, too, when a stop signal
/// comes or the task's time is over. Whatever happens, no other rank of the node waits for this one
/// afterwards.
/// @throws StoreError if the shard cannot be read or written: then it stays as it was
void measure_together(const MeasurePlan& plan, const Task& task,
                      const std::function<void(const Step&)>& on_step);

/// Whatever a rank has not done yet of these jobs it will not do: no other one waits for it.
void leave_node(const MeasurePlan& plan, int rank);

/// Adds to the shard that these jobs gave no answer, for this reason. The device is not touched.
/// @throws StoreError
void give_up_together(const MeasurePlan& plan, const Task& task, const std::string& reason);

}  // namespace sonde
