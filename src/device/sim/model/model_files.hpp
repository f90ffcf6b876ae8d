// Where models come from: the shipped ones are part of the binary, others are files. Readers check
// all values, and refuse unknown keys.
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

/// A model from JSON text; `origin` names it in errors. @throws ConfigError naming key and why
Model parse_model(const std::string& text, const std::string& origin);

/// The JSON of a model file after its `base` (merged by RFC 7396) and each path's `like` are filled
/// in.
/// @throws ConfigError as parse_model
nlohmann::json read_whole(const std::string& text, const std::string& origin);

/// The caches and pages (cache_reader.cpp). Needs the model's device, chip, partitions and slices.
/// @throws ConfigError, also if their arrays would take more memory than limits::host_bytes
void read_memory(Fields& root, Model& model);

}  // namespace sim
}  // namespace sonde
