// Job `control`: how the threads of a warp share it after a branch, what barriers count and cost,
// who waits in vain, and how long a sleep lasts (Wong 2010, sections IV-C and IV-D). Its parts are
// in jobs/control/. Method: docs/methods/control.md.
#include "jobs/control/parts.hpp"
#include "jobs/run/attempt.hpp"

namespace sonde {

void run_control(JobRun& run) {
  for (const ControlPart& part : control_parts) {
    const auto refusal = refusal_of([&] { part.run(run); });
    if (refusal) run.report_rest(part.prefix, Status::not_resolvable, *refusal);
  }
  run.report_rest("", Status::not_resolvable, "the probes of control flow were refused");
}

}  // namespace sonde
