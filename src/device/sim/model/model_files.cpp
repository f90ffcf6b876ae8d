// Finds models by name or path.
#include "device/sim/model/model_files.hpp"

#include "base/error.hpp"
#include "base/text_file.hpp"
#include "device/sim/model/limits.hpp"

#include <fmt/format.h>

namespace sonde::sim {

std::vector<std::string> list_shipped() {
  std::vector<std::string> names;
  for (const EmbeddedFile& file : shipped_texts()) {
    names.emplace_back(file.name.substr(0, file.name.find('.')));
  }
  return names;
}

std::optional<std::string> find_shipped(std::string_view name) {
  for (const EmbeddedFile& file : shipped_texts()) {
    if (file.name.substr(0, file.name.find('.')) == name) return std::string(file.text);
  }
  return std::nullopt;
}

Model load_model(const std::string& name_or_path) {
  if (const auto shipped = find_shipped(name_or_path)) return parse_model(*shipped, name_or_path);
  if (name_or_path.ends_with(".json")) {
    return parse_model(read_text_file(name_or_path, limits::file_bytes), name_or_path);
  }
  throw ConfigError("no simulated GPU is called '" + name_or_path +
                    "' (it is neither shipped nor a path to a .json file) shipped are: " +
                    fmt::format("{}", fmt::join(list_shipped(), " ")));
}

}  // namespace sonde::sim
