// The experiments of Dai 2016 as metrics of the job `bypass`.
#pragma once

#include "jobs/run/job_run.hpp"

namespace sonde {

struct ProgramStudy;

/// Plays them in the full suite and reports `bypass.*.study.*`: skipped in other suites,
/// not_resolvable with the device's own words where it cannot be another machine.
/// @throws DeviceLostError
void report_study(JobRun& run);

/// What one program's experiments say. @pre nothing of it was reported before
void report_program_study(JobRun& run, const ProgramStudy& study);

}  // namespace sonde
