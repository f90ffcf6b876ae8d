// The end of a run: the run file, rank 0's comparison of the devices, and the exit status.
#pragma once

#include "base/exit_status.hpp"
#include "commands/measure/late_jobs.hpp"
#include "commands/measure/supervise.hpp"
#include "mpi/session.hpp"
#include "mpi/stage_watch.hpp"
#include "store/run_header.hpp"

namespace sonde {

/// The objects that a rank of `sonde run` works with, besides the plan.
struct RankContext {
  MpiSession& mpi;
  Keeper& keeper;
  StageWatch& watch;
  int asked_as_rank = 0;  // argument of ask_devices, called before MPI gave the real rank
  int sm_count = 0;       // of the GPU with the most SMs in the run
};

/// Waits for the others, writes the run file with them, and has rank 0 analyse it. If a rank is
/// lost, one of the remaining ranks builds the file from the shards, and all of them exit here.
/// @returns the same status on every rank
ExitStatus finish_run(RunPlan plan, const RankContext& context, const Roster& roster,
                      const Supervised& mine, const NodeView& node, RankProgress& progress);

}  // namespace sonde
