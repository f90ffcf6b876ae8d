// What the driver says about the links of a GPU and about errors, before the first job and after
// the last one: for the jobs device and host.
#pragma once

#include "jobs/run/job_run.hpp"

namespace sonde {

/// Reports the error counters of the links and the Xid errors so far, as `device.*`.
void report_errors_before(JobRun& run);

/// Reports the links as they are now, and their error counters, as `host.*`. Errors are new if job
/// `device` did not see them. A counter that is lower than it was then was reset: all that it
/// counts now is new.
/// @pre copies ran in this job, so that PCIe generation and width are those of a busy link
void report_links(JobRun& run);

/// The same of the Xid errors of the GPU.
void report_xids(JobRun& run);

/// Bytes that a PCIe link carries one way in a second, less its line code (PCI Express Base
/// Specification 1.0 to 6.0: 2.5 to 64 GT/s; 8b/10b, 128b/130b, flits of 242 bytes in 256). 0: that
/// generation is not known.
double pcie_bytes_per_s(int generation, int width);

}  // namespace sonde
