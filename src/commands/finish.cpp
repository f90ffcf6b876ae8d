// Puts the results of all ranks into the run file, or what their shards hold of them, and lets rank
// 0 analyse it.
#include "commands/finish.hpp"

#include "base/error.hpp"
#include "base/log.hpp"
#include "commands/analyze.hpp"
#include "mpi/collectives.hpp"
#include "store/merge.hpp"
#include "store/output.hpp"
#include "store/write_run.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace sonde {
namespace {

bool anyone_stopped_early(MPI_Comm comm, const Measured& mine) {
  const auto texts = gather_texts(comm, mine.stopped_early ? "stopped" : "");
  return std::ranges::any_of(texts, [](const std::string& text) { return !text.empty(); });
}

/// Rank 0 alone knows what goes wrong here, and must not leave the others waiting for its answer.
template <class Work>
ExitStatus status_of(Work&& work) {
  try {
    return work();
  } catch (const Error& error) {
    log_world(error.what());
    return ExitStatus::error;
  }
}

void log_notes(const MergeNotes& notes) {
  for (const std::string& note : notes) log_world(note);
}

}  // namespace

ExitStatus finish_together(MpiSession& mpi, const MeasurePlan& plan, const Measured& mine,
                           const std::vector<UnauditedDevice>& unaudited) {
  if (anyone_stopped_early(mpi.world(), mine)) {
    log_world(fmt::format("stopped by a signal; {} keeps what was measured, go on with --resume",
                          plan.parts.string()));
    return ExitStatus::resumable;
  }
  const std::string& output = plan.options.output;
  try {
    write_run_together(mpi.world(), output, plan.provenance, mine.device ? &*mine.device : nullptr,
                       unaudited);
  } catch (const StoreError& error) {
    throw AgreedError(
        fmt::format("{} ({} keeps what was measured)", error.what(), plan.parts.string()));
  }
  auto status = ExitStatus::ok;
  if (mpi.rank() == 0) {
    status = status_of([&output] {
      log_notes(add_leftover_shards(output));
      remove_parts(output);
      const ExitStatus verdict = analyze_run(output);
      log_world("wrote " + output);
      return verdict;
    });
  }
  const std::string agreed = broadcast_text(mpi.world(), std::to_string(static_cast<int>(status)));
  return static_cast<ExitStatus>(std::stoi(agreed));
}

ExitStatus finish_without(const MeasurePlan& plan, const std::vector<DeviceResult>& lost,
                          const std::vector<UnauditedDevice>& unaudited) {
  const std::string& output = plan.options.output;
  return status_of([&] {
    log_world(fmt::format("{} device(s) lost; building {} from the shards", lost.size(), output));
    log_notes(
        write_run_from_shards(output, plan.provenance, list_shards(plan.parts), lost, unaudited));
    return analyze_run(output);
  });
}

}  // namespace sonde
