// The one table of findings that the exporters write: which columns a finding has, and each value
// as JSON. CSV writes the same columns.
#pragma once

#include "analysis/results.hpp"

#include <nlohmann/json.hpp>

#include <span>
#include <string_view>

namespace sonde {

using Json = nlohmann::ordered_json;

struct FindingColumn {
  std::string_view name;
  Value (*of)(const Finding& finding, std::string_view unit);
};

/// Value, unit, status, confidence, ..., reason. The metric stands before them.
std::span<const FindingColumn> finding_columns();

/// Whole numbers have no point; numbers that are not finite are null.
Json json_of(const Value& value);

}  // namespace sonde
