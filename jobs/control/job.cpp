// Job `control`: how the threads of a warp share it after a branch, what barriers count and cost,
// who waits in vain, and how long a sleep lasts (Wong 2010, sections IV-C and IV-D). Its parts are
// in jobs/control/. Method: docs/methods/control.md.
#include "jobs/control/parts.hpp"
#include "jobs/run/attempt.hpp"

namespace sonde {

void run_control(JobRun& run) {
  for (const ControlPart& part : control_parts) {
    measure_part(run, {part.prefix}, [&] { part.run(run); });
  }
  run.leave_open("", "the probes of control flow were refused");
}

}  // namespace sonde
