// Finds the replacement policy of one isolated set from chases over its lines, by elimination.
#pragma once

#include "analysis/structure/replacement/policy_trace.hpp"
#include "analysis/structure/replacement/replacement_fit.hpp"

#include <cstdint>
#include <vector>

namespace sonde {

/// The policy that explains the records. Plays each deterministic policy and compares access by
/// access: it must explain at least 0.99 of all accesses and 0.95 of the misses that it predicts,
/// and leave hardly any miss unexplained. Else tries random replacement, by the victims of the
/// cyclic chases. Method: docs/methods/replacement.md.
/// @param policy_records chases by policy_trace, equal or different ones
/// @param cyclic_records many short chases by cyclic_trace; may be empty. About 2500 victims in all
/// give probabilities to 0.03.
/// @throws Error if there are no ways, or if a record is not as described
ReplacementFit match_replacement(std::uint32_t ways,
                                 const std::vector<AccessRecord>& policy_records,
                                 const std::vector<AccessRecord>& cyclic_records);

}  // namespace sonde
