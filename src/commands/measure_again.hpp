// A second try of jobs whose findings deviate, and who is to make one. Runs in a worker process,
// without MPI.
#pragma once

#include "commands/measure.hpp"

#include <functional>
#include <string>

namespace sonde {

/// Compares the devices of all shards, and writes who is to measure what again (again_plan.hpp),
/// maybe nobody. @throws StoreError
void judge_shards(const MeasurePlan& plan);

/// Runs the task's jobs once more, on top of what the others found at first, and adds them to the
/// shard of the device, all at once in the end. A try that gives no answer has the reason; it does
/// so, too, when a stop signal comes or the task's time is over.
/// @throws StoreError if the shard cannot be read or written: then it stays as it was
void measure_again(const MeasurePlan& plan, const Task& task,
                   const std::function<void(const Step&)>& on_step);

/// Adds to the shard that no second try gave an answer, for this reason. The device is not touched.
/// @throws StoreError
void give_up_again(const MeasurePlan& plan, const Task& task, const std::string& reason);

}  // namespace sonde
