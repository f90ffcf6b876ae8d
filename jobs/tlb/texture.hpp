// Whether texture fetches have TLBs of their own.
#pragma once

#include "jobs/tlb/levels.hpp"

namespace sonde {

/// Chases the pages through a linear texture: where each level of plain loads fits and overflows,
/// it must cost the same. If it does not, reports the levels `tlb.texture_l1` and `tlb.texture_l2`;
/// else reports them as not present.
/// @param loads the setup of the chases that found the levels of plain loads
void report_texture_tlbs(PageChaseSetup loads, const TlbLevels& plain);

}  // namespace sonde
