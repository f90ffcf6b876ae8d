// Where models come from: the shipped ones are part of the binary (the list is made from
// shipped/*.json by the build), others are files.
#pragma once

#include "device/sim/model/model.hpp"

#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace sonde::sim {

/// A file of shipped/ as it is; what it leaves out its base may have.
struct ShippedFile {
  std::string_view name;
  std::string_view json;
};
std::span<const ShippedFile> shipped_files();

struct ShippedModel {
  std::string name;
  std::string json;  // with all that its base has
};
const std::vector<ShippedModel>& shipped_models();

/// A shipped model by name, or a JSON file by path.
/// @throws ConfigError naming file, key and why
Model load_model(const std::string& name_or_path);

}  // namespace sonde::sim
