// Where models come from: the shipped ones are part of the binary, others are files.
#pragma once

#include "base/embedded_file.hpp"
#include "device/sim/model/model.hpp"

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace sonde {

/// The files of shipped/.
std::span<const EmbeddedFile> shipped_texts();

namespace sim {

/// Names of the shipped models, without their ending.
std::vector<std::string> list_shipped();

/// The JSON of a shipped model, without what its base adds. Nothing: there is no such model.
std::optional<std::string> find_shipped(std::string_view name);

/// A shipped model by name, or a JSON file by path.
/// @throws ConfigError naming file, key and why
Model load_model(const std::string& name_or_path);

}  // namespace sim
}  // namespace sonde
