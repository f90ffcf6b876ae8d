// Job `control`: how threads of a warp run after a branch, what barriers count and cost, which
// threads wait in vain, and how long a sleep lasts (Wong 2010, sections IV-C and IV-D). The parts
// are in jobs/control/. Method: docs/methods/control.md.
#include "jobs/control/parts.hpp"

namespace sonde {

void run_control(JobRun& run) {
  report_waiting_threads(run);
  report_barriers(run);
  report_divergence(run);
  run.leave_open("", "the probes of control flow were refused");
}

}  // namespace sonde
