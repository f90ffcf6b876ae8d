// Provenance as attributes, and as JSON between ranks.
#include "store/run_header.hpp"

#include "store/rows.hpp"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <utility>

namespace sonde {
namespace {

constexpr const char* version_attribute = "sonde_schema_version";

const std::vector<std::pair<const char*, std::string Provenance::*>>& text_members() {
  static const std::vector<std::pair<const char*, std::string Provenance::*>> members{
      {"command_line", &Provenance::command_line},
      {"config_json", &Provenance::config_json},
      {"config_hash", &Provenance::config_hash},
      {"sonde_version", &Provenance::sonde_version},
      {"git_revision", &Provenance::git_revision},
      {"library_versions", &Provenance::library_versions},
      {"started_utc", &Provenance::started_utc},
      {"slurm_job_id", &Provenance::slurm_job_id}};
  return members;
}

}  // namespace

void write_header(hid_t file, const Provenance& provenance) {
  hdf5::write_attribute(file, version_attribute, std::uint64_t{schema_version});
  hdf5::write_attribute(file, "title", "Memory hierarchy and cores of GPUs, measured");
  hdf5::write_attribute(file, "source", "sonde " + provenance.sonde_version);
  hdf5::write_attribute(file, "date_created", provenance.started_utc);
  const hdf5::Handle group = hdf5::make_groups(file, "provenance");
  for (const auto& [name, member] : text_members()) {
    hdf5::write_attribute(group, name, provenance.*member);
  }
  hdf5::write_attribute(group, "seed", provenance.seed);
  hdf5::write_attribute(group, "world_size", static_cast<std::uint64_t>(provenance.world_size));
}

Provenance read_header(hid_t file) {
  if (!hdf5::has_attribute(file, version_attribute)) {
    throw StoreError("it is an HDF5 file, but not one that sonde wrote");
  }
  const std::uint64_t version = hdf5::read_number_attribute(file, version_attribute);
  if (version != std::uint64_t{schema_version}) {
    throw StoreError(fmt::format("its schema version is {}, this sonde reads version {}", version,
                                 schema_version));
  }
  Provenance provenance;
  const hdf5::Handle group(H5Gopen2(file, "provenance", H5P_DEFAULT), H5Gclose,
                           "opening the provenance");
  for (const auto& [name, member] : text_members()) {
    provenance.*member = hdf5::read_text_attribute(group, name);
  }
  provenance.seed = hdf5::read_number_attribute(group, "seed");
  provenance.world_size = static_cast<int>(hdf5::read_number_attribute(group, "world_size"));
  return provenance;
}

std::string header_to_json(const Provenance& provenance,
                           const std::vector<UnauditedDevice>& unaudited) {
  nlohmann::json json{{"seed", provenance.seed},
                      {"world_size", provenance.world_size},
                      {"unaudited", nlohmann::json::array()}};
  for (const auto& [name, member] : text_members()) json[name] = provenance.*member;
  for (const UnauditedDevice& device : unaudited) {
    json["unaudited"].push_back({device.node, device.uuid});
  }
  return json.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
}

void header_from_json(const std::string& text, Provenance& provenance,
                      std::vector<UnauditedDevice>& unaudited) {
  const auto json = nlohmann::json::parse(text);
  for (const auto& [name, member] : text_members()) {
    provenance.*member = json.at(name).get<std::string>();
  }
  provenance.seed = json.at("seed").get<std::uint64_t>();
  provenance.world_size = json.at("world_size").get<int>();
  unaudited.clear();
  for (const auto& device : json.at("unaudited")) {
    unaudited.push_back(
        {.node = device.at(0).get<std::string>(), .uuid = device.at(1).get<std::string>()});
  }
}

}  // namespace sonde
