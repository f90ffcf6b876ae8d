// Readers of a model file: the whole with its load paths (model_reader.cpp), and the caches and
// pages (cache_reader.cpp). Each checks its values and refuses unknown keys.
#pragma once

#include "device/sim/model/json_fields.hpp"
#include "device/sim/model/model.hpp"

namespace sonde::sim {

/// The JSON of a model file after its `base` (merged by RFC 7396) and each path's `like` are filled
/// in.
/// @throws ConfigError as parse_model
nlohmann::json read_whole(const std::string& text, const std::string& origin);

/// A model from JSON text; `origin` names it in errors. @throws ConfigError naming key and why
Model parse_model(const std::string& text, const std::string& origin);

/// The caches and pages. Needs the model's device, chip, partitions and slices.
/// @throws ConfigError, also if their arrays would take more memory than limits::host_bytes
void read_memory(Fields& root, Model& model);

}  // namespace sonde::sim
