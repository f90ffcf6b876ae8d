// Job `control`: how threads of a warp run after a branch, what barriers count and cost, which
// threads wait in vain, and how long a sleep lasts (Wong 2010, sections IV-C and IV-D). The parts
// are in jobs/control/. Method: docs/methods/control.md.
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
