#include "fleet/gather.hpp"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <cstdlib>
#include <iterator>

namespace sonde {

// The JSON library finds it by name.
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(RankView, rank, machine, node, uuids, restricted, names,
                                   sm_count, shared_carveouts_bytes)

namespace {

/// The lowest world rank that shares memory with this one.
int find_machine(MPI_Comm comm) {
  const int rank = rank_of(comm);
  MPI_Comm machine = MPI_COMM_NULL;
  SONDE_MPI_CHECK(MPI_Comm_split_type(comm, MPI_COMM_TYPE_SHARED, rank, MPI_INFO_NULL, &machine));
  int first = rank;
  SONDE_MPI_CHECK(MPI_Bcast(&first, 1, MPI_INT, 0, machine));
  SONDE_MPI_CHECK(MPI_Comm_free(&machine));
  return first;
}

bool is_restricted() {
  const char* visible = std::getenv("CUDA_VISIBLE_DEVICES");
  return visible != nullptr && *visible != '\0';
}

}  // namespace

std::vector<RankView> gather_views(MPI_Comm comm, const std::vector<DeviceChoice>& visible) {
  RankView mine{.rank = rank_of(comm),
                .machine = find_machine(comm),
                .node = node_name(),
                .uuids = {},
                .restricted = is_restricted()};
  for (const DeviceChoice& choice : visible) {
    mine.uuids.push_back(choice.uuid);
    mine.names.push_back(choice.name);
    mine.sm_count = std::max(mine.sm_count, choice.sm_count);
    std::ranges::copy(choice.shared_carveouts_bytes,
                      std::back_inserter(mine.shared_carveouts_bytes));
  }
  std::vector<RankView> views;
  for (const std::string& text : gather_texts(comm, nlohmann::json(mine).dump())) {
    views.push_back(nlohmann::json::parse(text).get<RankView>());
  }
  return views;
}

}  // namespace sonde
