#include "store/run_header.hpp"

#include "store/points.hpp"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

namespace sonde {

// The JSON library finds these by name. The attributes have the names of Provenance's members.
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(Axis, option, unit, is_number)
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(SharedJob, job, config_hash)
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(Point, config_hash, config_json, seed, repeat_index, at, shared)
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(Provenance, command_line, config_json, config_hash, sweep_hash,
                                   sonde_version, git_revision, library_versions, started_utc,
                                   slurm_job_id, seed, world_size, axes, points)
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(UnauditedDevice, node, uuid)
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(RosterEntry, uuid, node, rank)
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(Roster, provenance, devices, unaudited, open_end)

namespace {

constexpr const char* axes_attribute = "axes_json";
// More axes than sonde has options.
constexpr std::size_t most_axes = 64;
constexpr const char* version_attribute = "sonde_schema_version";
// More ranks than any machine has, so that sums of them (after merges) cannot overflow.
constexpr std::uint64_t most_ranks = 1 << 24;

void check_version(hid_t file) {
  if (!hdf5::has_attribute(file, version_attribute)) {
    throw StoreError("it is an HDF5 file, but not one that sonde wrote");
  }
  const std::uint64_t version = hdf5::read_number_attribute(file, version_attribute);
  if (version == schema_version) return;
  throw StoreError(fmt::format(
      "its schema version is {}, this sonde reads version {}; the {} sonde that wrote it reads it",
      version, schema_version, version < schema_version ? "older" : "newer"));
}

std::vector<Axis> read_axes(hid_t provenance) {
  const auto list =
      nlohmann::json::parse(hdf5::read_text_attribute(provenance, axes_attribute), nullptr, false);
  if (!list.is_array() || list.size() > most_axes) throw StoreError("the file has no sound axes");
  try {
    return list.get<std::vector<Axis>>();
  } catch (const nlohmann::json::exception& error) {
    throw StoreError(fmt::format("the file has no sound axes: {}", error.what()));
  }
}

}  // namespace

void write_header(hid_t file, const Provenance& provenance) {
  hdf5::write_attribute(file, version_attribute, schema_version);
  hdf5::write_attribute(file, "title", "Memory hierarchy and cores of GPUs, measured");
  hdf5::write_attribute(file, "source", "sonde " + provenance.sonde_version);
  hdf5::write_attribute(file, "date_created", provenance.started_utc);
  const hdf5::Handle group = hdf5::make_groups(file, "provenance");
  const nlohmann::json members = provenance;
  for (const auto& [name, value] : members.items()) {
    if (name == "axes") hdf5::write_fixed_attribute(group, axes_attribute, value.dump());
    if (value.is_array()) continue;  // points are written as a table
    if (value.is_string()) {
      hdf5::write_fixed_attribute(group, name, value.get<std::string>());
    } else {
      hdf5::write_attribute(group, name, value.get<std::uint64_t>());
    }
  }
}

Provenance read_header(hid_t file, const StoredTables& root) {
  check_version(file);
  const hdf5::Handle group = hdf5::open_group(file, "provenance");
  nlohmann::json members = Provenance{};
  for (auto& [name, value] : members.items()) {
    if (value.is_array()) continue;
    if (value.is_string()) {
      value = hdf5::read_text_attribute(group, name);
    } else {
      value = hdf5::read_number_attribute(group, name);
    }
  }
  if (members.at("world_size").get<std::uint64_t>() > most_ranks) {
    throw StoreError("the provenance names more ranks than there can be");
  }
  auto provenance = members.get<Provenance>();
  provenance.axes = read_axes(group);
  read_points(root, provenance);
  return provenance;
}

std::string to_json(const Roster& roster) {
  return nlohmann::json(roster).dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
}

Roster roster_from_json(const std::string& text) {
  try {
    return nlohmann::json::parse(text).get<Roster>();
  } catch (const nlohmann::json::exception& error) {
    throw StoreError(fmt::format("it is no roster of a run: {}", error.what()));
  }
}

}  // namespace sonde
