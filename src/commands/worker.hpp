// What a worker process does with a task of its rank.
#pragma once

#include "commands/measure/measure.hpp"
#include "worker/keeper.hpp"

#include <string>

namespace sonde {

/// Does a task (worker_task.hpp) and reports to the rank. @returns the exit status of the worker
int do_task(RunPlan run, const std::string& task, const RankLink& rank);

}  // namespace sonde
