// What tells which SMs form TPCs and GPCs, drawn for a chip: clusters, and ports that are too
// narrow for all behind them.
#pragma once

#include "support/draws.hpp"

#include <nlohmann/json.hpp>

#include <cstdint>

namespace sonde::test {

/// Sizes of a chip.
struct Floor {
  std::uint64_t gpcs = 0;
  std::uint64_t tpcs = 0;  // of a whole GPC
  std::uint64_t sms = 0;   // of a TPC
  std::uint64_t least_tpcs = 0;
  std::uint64_t enabled_tpcs = 0;
  std::uint64_t lone_tpcs = 0;  // that share no cluster with another TPC
};

/// As the model file has them (docs/simulated-gpus.md), without the lone TPCs.
nlohmann::json to_json(const Floor& floor);

/// Thread block clusters of a drawn size and order.
/// @param gpu of which `chip` and `device` are there @returns the most blocks of one
std::uint64_t draw_clusters(Draws& draws, const Floor& floor, nlohmann::json& gpu);

/// Ports of SMs, of TPCs, which two SMs overload or not, and of GPCs; and an L2 that bears several.
/// @param gpc_ports whether they hold up the TPCs of the smallest GPC
void draw_ports(Draws& draws, const Floor& floor, bool gpc_ports, nlohmann::json& throughput);

}  // namespace sonde::test
