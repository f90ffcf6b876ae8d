// What the JSON reports share: how they write values, and safe text.
#pragma once

#include "analysis/results.hpp"

#include <nlohmann/json.hpp>

#include <string>

namespace sonde {

using Json = nlohmann::ordered_json;

/// Whole numbers have no point; numbers that are not finite are null, as is no value.
Json json_of(const Value& value);

/// The text of it, with control characters and bytes that are no UTF-8 escaped or replaced.
/// @param indent -1: all in one line
std::string dump(const Json& json, int indent = -1);

}  // namespace sonde
