// Jobs that run after every GPU has been measured by itself: jobs whose findings deviate (again),
// and jobs between the GPUs of a node. Runs in a worker process, without MPI.
#pragma once

#include "commands/measure/measure.hpp"
#include "fleet/assign.hpp"

#include <functional>
#include <string>
#include <vector>

namespace sonde {

/// The GPUs that a run measures on a node.
struct NodeView {
  std::vector<NodeGpu> gpus{};  // on the node of this rank, ordered by rank
  std::size_t most_gpus = 0;    // on the node with the most GPUs
};

/// @param visible the GPUs that this rank sees
NodeView view_node(const std::vector<RankView>& views, const Assignment& assignment, int rank,
                   const BackendChoice& backend, const std::vector<DeviceChoice>& visible);

/// Whether the run has jobs between the GPUs of a node.
bool has_jobs_together(const MeasurePlan& plan);

/// Runs the jobs of a task `measure_again`, or those jobs of `measure_together` that are missing in
/// the shards of its GPUs, and at the end adds all results to the shards. A job without an answer
/// gets the reason; a stop signal or the end of the task's time is a reason, too.
/// @param given_up if not empty: touch no device and give every job this reason
/// @throws StoreError if the shard of `measure_again` cannot be read or written; it then stays as
/// it was. For `measure_together`, each such shard gets a line in the log instead.
void measure_late(const MeasurePlan& plan, const Task& task,
                  const std::function<void(const Step&)>& on_step,
                  const std::string& given_up = "");

}  // namespace sonde
