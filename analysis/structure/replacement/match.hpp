// From chases over the lines of one isolated set to its replacement policy, by elimination.
#pragma once

#include "analysis/structure/replacement/policy_trace.hpp"
#include "analysis/structure/replacement/replacement_fit.hpp"

#include <cstdint>
#include <vector>

namespace sonde {

/// The policy that explains the records. Deterministic ones are played and compared access by
/// access: at least 0.99 of all and 0.95 of the accesses on which candidates differ; then random
/// replacement, by the victims in cyclic chases. Method: docs/methods/replacement.md.
/// @param policy_records chases by policy_trace, the same or different ones
/// @param cyclic_records chases by cyclic_trace, many short ones (about 2500 victims in all give
/// probabilities to 0.03); may be empty
/// @throws Error if there are no ways, or a record is not as described
ReplacementFit match_replacement(std::uint32_t ways,
                                 const std::vector<AccessRecord>& policy_records,
                                 const std::vector<AccessRecord>& cyclic_records);

}  // namespace sonde
