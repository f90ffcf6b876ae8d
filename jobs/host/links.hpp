// What the driver reports about the links of a GPU and about errors, before the first job and after
// the last one, for the jobs device and host.
#pragma once

#include "jobs/run/job_run.hpp"

namespace sonde {

/// Reports error counters of the links and Xid errors so far, as `device.*`.
void report_errors_before(JobRun& run);

/// Reports the present state and the error counters of the links, and the Xid errors of the GPU, as
/// `host.*`. Errors that job `device` did not see are new. A counter below its earlier value was
/// reset: its whole value is new.
/// @pre copies ran in this job, so that PCIe generation and width are those of a busy link
void report_links_and_errors(JobRun& run);

/// Bytes per second that a PCIe link carries in one direction, without its line code (PCI Express
/// Base Specification 1.0 to 6.0: 2.5 to 64 GT/s; 8b/10b, 128b/130b, flits of 242 bytes in 256). 0
/// for an unknown generation.
double pcie_bytes_per_s(int generation, int width);

}  // namespace sonde
