// Where models come from: the shipped ones are part of the binary, others are files.
#include "base/error.hpp"
#include "device/sim/model.hpp"
#include "device/sim/shipped_models.hpp"

#include <algorithm>
#include <fstream>
#include <numeric>
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

std::uint64_t Geometry::lines() const {
  return std::accumulate(ways_per_set.begin(), ways_per_set.end(), std::uint64_t{0});
}

std::uint32_t Geometry::most_ways() const {
  return *std::max_element(ways_per_set.begin(), ways_per_set.end());
}

const Geometry& CacheModel::geometry_for(std::uint64_t shared_bytes) const {
  for (const Geometry& geometry : geometries) {
    if (geometries.size() == 1 || geometry.shared_bytes == shared_bytes) return geometry;
  }
  throw Error("cache " + name + " has no geometry for a carve-out of " +
              std::to_string(shared_bytes) + " bytes");
}

const CacheModel* Model::find_cache(const std::string& cache_name) const {
  const auto found = std::find_if(caches.begin(), caches.end(), [&](const CacheModel& cache) {
    return cache.name == cache_name;
  });
  return found == caches.end() ? nullptr : &*found;
}

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
