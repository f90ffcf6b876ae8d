// Where models come from: the shipped ones are part of the binary, others are files.
#include "device/sim/model/model_files.hpp"

#include "base/error.hpp"
#include "base/text_file.hpp"
#include "device/sim/model/limits.hpp"
#include "device/sim/model/readers.hpp"

#include <nlohmann/json.hpp>

namespace sonde::sim {

std::span<const ShippedFile> shipped_files() {
  static const std::vector<ShippedFile> files = [] {
    std::vector<ShippedFile> named;
    for (const auto& [name, text] : shipped_texts()) {
      named.push_back({name.substr(0, name.find('.')), text});
    }
    return named;
  }();
  return files;
}

const std::vector<ShippedModel>& shipped_models() {
  static const std::vector<ShippedModel> whole = [] {
    std::vector<ShippedModel> models;
    for (const ShippedFile& file : shipped_files()) {
      const std::string name(file.name);
      models.push_back({name, read_whole(std::string(file.json), name).dump()});
    }
    return models;
  }();
  return whole;
}

Model load_model(const std::string& name_or_path) {
  for (const ShippedFile& shipped : shipped_files()) {
    if (shipped.name == name_or_path) return parse_model(std::string(shipped.json), name_or_path);
  }
  if (name_or_path.ends_with(".json")) {
    return parse_model(read_text_file(name_or_path, limits::file_bytes), name_or_path);
  }
  std::string known;
  for (const ShippedFile& shipped : shipped_files()) known += " " + std::string(shipped.name);
  throw ConfigError("no simulated GPU is called '" + name_or_path +
                    "' (it is neither shipped nor a path to a .json file) shipped are:" + known);
}

}  // namespace sonde::sim
