// Random replacement, with equal or weighted ways: a part of match_replacement.
#pragma once

#include "analysis/structure/replacement/policy_trace.hpp"
#include "analysis/structure/replacement/replacement_fit.hpp"

#include <cstdint>
#include <vector>

namespace sonde {

/// Random replacement or weighted ways, if the victims of cyclic chases say so and the other chases
/// miss as often as such a policy does. Scores are added to `fit`, which is returned with a reason
/// if neither holds.
ReplacementFit match_random(std::uint32_t ways, const std::vector<AccessRecord>& policy_records,
                            const std::vector<AccessRecord>& cyclic_records, ReplacementFit fit);

}  // namespace sonde
