// Which SMs share a level of a TLB.
#pragma once

#include "jobs/sets/tlb_probe.hpp"

namespace sonde {

/// Reports `.scope`: "sm", "tpc", "gpc" or "device", from pairs of SM 0 with every other SM that
/// chase different entries at once, together more than the level holds.
void report_tlb_scope(JobRun& run, const PageChaseSetup& setup, const TlbGeometry& shape);

}  // namespace sonde
