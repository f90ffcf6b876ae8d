// Which SMs share a level of a TLB.
#pragma once

#include "jobs/tlb_oracle.hpp"

namespace sonde {

/// Reports `.scope`: "sm", "tpc", "gpc" or "device", from pairs of SM 0 with every other SM that
/// walk different entries at once, together more than the level holds.
void report_tlb_scope(JobRun& run, const PageSetup& setup, const TlbShape& shape);

}  // namespace sonde
