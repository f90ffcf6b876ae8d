// The JSON of a shipped model, to be changed by a test.
#pragma once

#include "device/sim/model/model_files.hpp"

#include <nlohmann/json.hpp>

#include <string_view>

namespace sonde::test {

/// Null if there is no such model.
inline nlohmann::json json_of(std::string_view name) {
  for (const sim::ShippedModel& shipped : sim::shipped_models()) {
    if (shipped.name == name) return nlohmann::json::parse(shipped.json);
  }
  return {};
}

}  // namespace sonde::test
