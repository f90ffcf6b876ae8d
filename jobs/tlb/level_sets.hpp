// Sets and policy of one level of a TLB, by searches at several places where the first one leaves
// something open. jobs/tlb/levels reports the rest of the level.
#pragma once

#include "jobs/tlb/tlb_probe.hpp"

namespace sonde {

/// The sets of a level. Where sets or policy do not come out, they are looked for again on another
/// SM and at another place. What was found is reported.
/// @throws DeviceError, DeviceLostError
SetFindings find_sets_in_draws(const TlbUnderTest& tlb);

}  // namespace sonde
