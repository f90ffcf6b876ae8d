// Hosts, nodes and visible GPUs of all ranks.
#include "fleet/gather.hpp"

#include <nlohmann/json.hpp>

#include <cstdlib>

namespace sonde {
namespace {

/// The lowest world rank that shares memory with this one.
int find_node(MPI_Comm comm) {
  const int rank = rank_of(comm);
  MPI_Comm node = MPI_COMM_NULL;
  SONDE_MPI_CHECK(MPI_Comm_split_type(comm, MPI_COMM_TYPE_SHARED, rank, MPI_INFO_NULL, &node));
  int first = rank;
  SONDE_MPI_CHECK(MPI_Bcast(&first, 1, MPI_INT, 0, node));
  SONDE_MPI_CHECK(MPI_Comm_free(&node));
  return first;
}

bool is_restricted() {
  const char* visible = std::getenv("CUDA_VISIBLE_DEVICES");
  return visible != nullptr && *visible != '\0';
}

}  // namespace

std::vector<RankView> gather_views(MPI_Comm comm, const std::vector<DeviceChoice>& visible) {
  nlohmann::json mine{{"node", find_node(comm)},
                      {"host", host_name()},
                      {"restricted", is_restricted()},
                      {"uuids", nlohmann::json::array()}};
  for (const DeviceChoice& choice : visible) mine["uuids"].push_back(choice.uuid);
  std::vector<RankView> views;
  for (const std::string& text : gather_texts(comm, mine.dump())) {
    const auto json = nlohmann::json::parse(text);
    views.push_back({.rank = static_cast<int>(views.size()),
                     .node = json.at("node").get<int>(),
                     .host = json.at("host").get<std::string>(),
                     .uuids = json.at("uuids").get<std::vector<std::string>>(),
                     .restricted = json.at("restricted").get<bool>()});
  }
  return views;
}

}  // namespace sonde
