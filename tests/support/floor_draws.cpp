// Draws of clusters and ports.
#include "support/floor_draws.hpp"

#include <algorithm>

namespace sonde::test {

using nlohmann::json;

json to_json(const Floor& floor) {
  return {{"gpcs", floor.gpcs},
          {"tpcs_per_gpc", floor.tpcs},
          {"sms_per_tpc", floor.sms},
          {"enabled_tpcs", floor.enabled_tpcs},
          {"min_tpcs_per_gpc", floor.least_tpcs}};
}

std::uint64_t draw_clusters(Draws& draws, const Floor& floor, json& gpu) {
  const std::uint64_t most_blocks = draws.pick({2, 4, 8, 16});
  gpu["device"]["compute_major"] = 9;
  gpu["device"]["max_cluster_blocks"] = most_blocks;
  gpu["chip"]["cluster_order"] = draws.pick({"by_tpc", "any"});
  gpu["chip"]["lone_tpcs"] = floor.lone_tpcs;
  return most_blocks;
}

void draw_ports(Draws& draws, const Floor& floor, bool gpc_ports, json& throughput) {
  const double sm_port = draws.pick({32, 64});
  const auto sms = static_cast<double>(floor.sms);
  const bool tpc_ports = floor.sms > 1 && draws.chance(0.7);
  const double tpc_port = sm_port * (tpc_ports ? draws.real(1.1, 1.9) : 1.05 * sms);
  const double tpc_rate = std::min(tpc_port, sm_port * sms);
  const double least_rate = tpc_rate * static_cast<double>(floor.least_tpcs);
  const double all_rate = tpc_rate * static_cast<double>(floor.enabled_tpcs);
  double l2 = all_rate * draws.real(0.4, 1.1);
  throughput["sm_port_bytes_per_cycle"] = sm_port;
  throughput["tpc_port_bytes_per_cycle"] = tpc_port;
  if (gpc_ports) {
    // Two TPCs never overload it: nothing could tell such a GPC from a TPC.
    const double gpc_port = std::max(2.05 * tpc_rate, least_rate * draws.real(0.6, 0.9));
    throughput["gpc_port_bytes_per_cycle"] = gpc_port;
    l2 = gpc_port * std::max(2.0, static_cast<double>(floor.gpcs) * draws.real(0.5, 1.2));
  }
  throughput["l2_bytes_per_cycle"] = std::max(l2, 4 * tpc_rate);
}

}  // namespace sonde::test
