// Charges on the ground of reference values: what GPUs of the same model had, measured before.
#pragma once

#include "analysis/fleet/fleet.hpp"
#include "base/embedded_file.hpp"

#include <string_view>

namespace sonde {

/// The files that `shipped_references` are read from: the folder references/, which
/// docs/results/references.py made.
std::span<const EmbeddedFile> reference_files();

/// @throws Error if the text is no reference
ModelReference parse_reference(std::string_view json);

/// What the GPUs of a group can be held against: a reference of the same name and, within 0.1 %
/// (what a driver keeps for itself varies), the same memory. nullptr if there is none, or if the
/// run asked for settings that move values (`--set`, `--sms`, a sweep).
const ModelReference* reference_of(const RunResult& run, const ComparisonGroup& group,
                                   const ReduceOptions& options);

/// Values that are worse than those of all GPUs of the reference, by more than peers are granted:
/// the tolerance at which a peer fails warns, twice that fails, since other hosts and few GPUs
/// stand behind a reference. Sizes and counts are judged in both directions.
std::vector<Charge> reference_charges(const RunResult& run,
                                      const std::vector<ComparisonGroup>& groups,
                                      const ReduceOptions& options);

}  // namespace sonde
