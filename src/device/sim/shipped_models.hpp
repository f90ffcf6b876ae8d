// The model files that are part of the binary; the list is made from models/*.json by the build.
#pragma once

#include <span>
#include <string_view>

namespace sonde::sim {

struct ShippedModel {
  std::string_view name;
  std::string_view json;
};

std::span<const ShippedModel> shipped_models();

}  // namespace sonde::sim
