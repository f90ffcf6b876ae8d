// What the driver tells of the links of a GPU before, between and after copies: part of the job
// host.
#pragma once

#include "jobs/run/job_run.hpp"

namespace sonde {

/// Watches the links while the job runs. A link that has nothing to do may save power, so what
/// counts is the highest generation and width that was seen while copies ran, or right after.
class LinkWatch {
 public:
  /// Looks a first time, at a link that has nothing to do.
  explicit LinkWatch(Device& device);

  /// Looks again, right after a copy.
  void look();

  /// Reports generation, width, replays and NVLinks, with what was added since the first look.
  void report(JobRun& run) const;

 private:
  Device& device_;
  Links before_;
  Links now_;
  PcieLink best_;  // highest generation and width of all looks
};

/// Bytes that a PCIe link carries one way in a second, less its line code (PCI Express Base
/// Specification 1.0 to 6.0: 2.5 to 64 GT/s; 8b/10b, 128b/130b, flits of 242 bytes in 256). 0: that
/// generation is not known.
double pcie_bytes_per_s(int generation, int width);

/// Reports the Xid errors of the GPU.
void report_xids(JobRun& run);

}  // namespace sonde
