// Job `bypass`.
#include "jobs/run/job_run.hpp"

namespace sonde {

void run_bypass(JobRun& run) { run.report_rest("", Status::not_resolvable, "not written"); }

}  // namespace sonde
