// Where models come from: the shipped ones are part of the binary, others are files.
#include "device/sim/model/model_files.hpp"

#include "base/error.hpp"
#include "device/sim/model/readers.hpp"

#include <fstream>
#include <sstream>

namespace sonde::sim {
namespace {

std::string read_file(const std::string& path) {
  std::ifstream file(path);
  std::stringstream text;
  text << file.rdbuf();
  if (!file) {
    throw ConfigError("cannot read the model file " + path +
                      " (it declares the simulated GPU) check path and permissions");
  }
  return text.str();
}

}  // namespace

Model load_model(const std::string& name_or_path) {
  for (const ShippedModel& shipped : shipped_models()) {
    if (shipped.name == name_or_path) return parse_model(std::string(shipped.json), name_or_path);
  }
  if (name_or_path.ends_with(".json")) return parse_model(read_file(name_or_path), name_or_path);
  std::string known;
  for (const ShippedModel& shipped : shipped_models()) known += " " + std::string(shipped.name);
  throw ConfigError("no simulated GPU is called '" + name_or_path +
                    "' (it is neither shipped nor a path to a .json file) shipped are:" + known);
}

}  // namespace sonde::sim
