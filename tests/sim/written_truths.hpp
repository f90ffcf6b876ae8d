// What somebody who wrote a simulated GPU says of it, by hand and from its documentation alone, as
// values that ought to be found.
#pragma once

#include "sim/declared_structure.hpp"

#include <filesystem>
#include <vector>

namespace sonde::test {

/// Reads {"source": text, "metrics": {metric: value}}. A value is a number in the metric's unit, a
/// list of numbers, a text, or "not_present". Structure must come back as it stands; of other
/// numbers two cycles (or a hundredth) are allowed, as in docs/methods/latency.md.
/// @throws Error if the file cannot be read or names a metric that the registry does not know
std::vector<DeclaredValue> read_written_truths(const std::filesystem::path& file);

}  // namespace sonde::test
