// Which SMs share a level of a TLB: from chases of pairs of SMs to a finding.
#pragma once

#include "jobs/tlb/geometry.hpp"

namespace sonde {

/// Reports `.scope` and fills in `sms_apart`, from pairs of SM 0 with every other SM that chase
/// different entries at once, together more than the level holds; named by what the job topology
/// found (analysis/sharing).
/// @pre granularity, entry and entries are known
void report_tlb_scope(TlbUnderTest& tlb);

}  // namespace sonde
