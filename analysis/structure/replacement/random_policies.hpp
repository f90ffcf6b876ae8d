// Random replacement with equal or weighted ways. A part of match_replacement.
#pragma once

#include "analysis/structure/replacement/policy_trace.hpp"
#include "analysis/structure/replacement/replacement_fit.hpp"

#include <cstdint>
#include <vector>

namespace sonde {

/// Random replacement or weighted ways, if the victims of cyclic chases show it and the other
/// chases miss as often. Adds scores to `fit`; returns it with a reason if neither holds.
ReplacementFit match_random(std::uint32_t ways, const std::vector<AccessRecord>& policy_records,
                            const std::vector<AccessRecord>& cyclic_records, ReplacementFit fit);

}  // namespace sonde
