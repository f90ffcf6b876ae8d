// The one table of findings that the exporters write: which columns a finding has, and each value
// as JSON. CSV writes the same columns.
#pragma once

#include "analysis/results.hpp"

#include <nlohmann/json.hpp>

#include <array>
#include <string_view>

namespace sonde {

using Json = nlohmann::ordered_json;

struct FindingCell {
  std::string_view column;
  Value value;
};
/// Value, unit, status, confidence, ..., reason. The metric stands before them.
std::array<FindingCell, 11> cells_of(const Finding& finding, std::string_view unit);

/// Whole numbers have no point; numbers that are not finite are null.
Json json_of(const Value& value);

}  // namespace sonde
