// Policies that draw a victim by lot: a part of match_replacement.
#pragma once

#include "analysis/structure/replacement.hpp"

namespace sonde {

/// Random replacement or weighted ways, if the victims of cyclic walks say so and the other walks
/// miss as often as such a policy does. Scores are added to `fit`, which is returned with a reason
/// if neither holds.
ReplacementFit match_lots(std::uint32_t ways, const std::vector<SetRecord>& policy_records,
                          const std::vector<SetRecord>& cyclic_records, ReplacementFit fit);

}  // namespace sonde
