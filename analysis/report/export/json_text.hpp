// Values and safe text of the JSON reports.
#pragma once

#include "analysis/results.hpp"

#include <nlohmann/json.hpp>

#include <string>

namespace sonde {

using Json = nlohmann::ordered_json;

/// Whole numbers have no point. Missing values and numbers that are not finite are null.
Json json_of(const Value& value);

/// Control characters are escaped, bytes that are no UTF-8 replaced.
/// @param indent -1: everything in one line
std::string dump(const Json& json, int indent = -1);

}  // namespace sonde
