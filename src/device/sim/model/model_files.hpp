// Where models come from: the shipped ones are part of the binary, others are files.
#pragma once

#include "base/embedded_file.hpp"
#include "device/sim/model/model.hpp"

#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace sonde {

/// The files of shipped/.
std::span<const EmbeddedFile> shipped_texts();

namespace sim {

/// One of them as it is, by its name without ending; what it leaves out its base may have.
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

}  // namespace sim
}  // namespace sonde
