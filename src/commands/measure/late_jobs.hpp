// Jobs that are measured when every GPU has been measured by itself: second tries of jobs whose
// findings deviate, and jobs between the GPUs of a node. Runs in a worker process, without MPI.
#pragma once

#include "commands/measure/measure.hpp"
#include "fleet/assign.hpp"

#include <functional>
#include <string>
#include <vector>

namespace sonde {

/// The GPUs that a run measures on a node.
struct NodeView {
  std::vector<NodeGpu> gpus{};  // of the node of this rank, by rank
  std::size_t most_gpus = 0;    // of the node that has most
};

/// @param visible what this rank sees
NodeView view_node(const std::vector<RankView>& views, const Assignment& assignment, int rank,
                   const BackendChoice& backend, const std::vector<DeviceChoice>& visible);

/// Whether the run has jobs between the GPUs of a node.
bool has_jobs_together(const MeasurePlan& plan);

/// Runs the jobs of a task `measure_again`, on top of what the others found at first, or those of
/// `measure_together` that the shards of its GPUs lack, and adds them to the shards, all at once in
/// the end. One that gives no answer has the reason; it does so, too, when a stop signal comes or
/// the task's time is over.
/// @param given_up why none of them gives an answer: no device is touched; else empty
/// @throws StoreError if the shard of `measure_again` cannot be read or written: then it stays as
/// it was. One of several has a line in the log instead.
void measure_late(const MeasurePlan& plan, const Task& task,
                  const std::function<void(const Step&)>& on_step,
                  const std::string& given_up = "");

}  // namespace sonde
