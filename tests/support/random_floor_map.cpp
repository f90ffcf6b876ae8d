// Draws of chips.
#include "support/random_floor_map.hpp"

#include "device/sim/model/model_files.hpp"
#include "support/draws.hpp"

#include <nlohmann/json.hpp>

#include <algorithm>

namespace sonde::test {
namespace {

using nlohmann::json;

constexpr std::uint64_t most_sms = 160;

json shipped_json(std::string_view name) {
  const auto models = sim::shipped_models();
  return json::parse(std::ranges::find(models, name, [](const sim::ShippedModel& model) {
                       return model.name;
                     })->json);
}

struct Chip {
  std::uint64_t gpcs = 0;
  std::uint64_t tpcs = 0;  // of a whole GPC
  std::uint64_t sms = 0;   // of a TPC
  std::uint64_t least_tpcs = 0;
  std::uint64_t enabled_tpcs = 0;
  std::uint64_t lone_tpcs = 0;
};

Chip draw_chip(Draws& draws) {
  for (;;) {
    Chip chip{
        .gpcs = draws.between(4, 12), .tpcs = draws.between(3, 9), .sms = draws.between(1, 3)};
    chip.least_tpcs = std::max<std::uint64_t>(3, chip.tpcs - chip.tpcs / 3);
    chip.enabled_tpcs = draws.between(chip.gpcs * chip.least_tpcs, chip.gpcs * chip.tpcs);
    chip.lone_tpcs = draws.chance(0.3) ? draws.between(1, chip.gpcs / 2) : 0;
    // Three SMs that share a clock or clusters may be a TPC as well as a GPC.
    const bool is_clear = chip.least_tpcs * chip.sms > 3;
    if (is_clear && chip.enabled_tpcs * chip.sms <= most_sms) return chip;
  }
}

/// @param gpc_ports whether they hold up the TPCs of the smallest GPC
void draw_ports(Draws& draws, const Chip& chip, bool gpc_ports, json& throughput) {
  const double sm_port = draws.pick({32, 64});
  const auto sms = static_cast<double>(chip.sms);
  const bool tpc_ports = chip.sms > 1 && draws.chance(0.7);
  const double tpc_port = sm_port * (tpc_ports ? draws.real(1.1, 1.9) : 1.05 * sms);
  const double tpc_rate = std::min(tpc_port, sm_port * sms);
  const double least_rate = tpc_rate * static_cast<double>(chip.least_tpcs);
  const double all_rate = tpc_rate * static_cast<double>(chip.enabled_tpcs);
  double l2 = all_rate * draws.real(0.4, 1.1);
  throughput["sm_port_bytes_per_cycle"] = sm_port;
  throughput["tpc_port_bytes_per_cycle"] = tpc_port;
  if (gpc_ports) {
    // Two TPCs never overload it: nothing could tell such a GPC from a TPC.
    const double gpc_port = std::max(2.05 * tpc_rate, least_rate * draws.real(0.6, 0.9));
    throughput["gpc_port_bytes_per_cycle"] = gpc_port;
    l2 = gpc_port * std::max(2.0, static_cast<double>(chip.gpcs) * draws.real(0.5, 1.2));
  }
  throughput["l2_bytes_per_cycle"] = std::max(l2, 4 * tpc_rate);
}

}  // namespace

std::string draw_floor_map(std::uint64_t seed) {
  Draws draws(seed, "floor map");
  const Chip chip = draw_chip(draws);
  json gpu = shipped_json("gtx980");
  gpu["source"] = "drawn";
  for (json& cache : gpu["caches"]) {  // as much for each SM as real ones have
    if (cache["name"] == "l2") cache["ways"] = 128;
  }
  gpu["device"]["l2_bytes"] = "16 MiB";
  gpu["chip"] = {{"gpcs", chip.gpcs},
                 {"tpcs_per_gpc", chip.tpcs},
                 {"sms_per_tpc", chip.sms},
                 {"enabled_tpcs", chip.enabled_tpcs},
                 {"min_tpcs_per_gpc", chip.least_tpcs},
                 {"numbering", draws.pick({"tpc_major", "round_robin"})}};
  const std::string clock_scope = draws.pick({"sm", "sm", "sm", "tpc", "gpc"});
  gpu["clock"]["scope"] = clock_scope;
  bool clusters_tell = false;
  if (draws.chance(0.5)) {
    const std::uint64_t most_blocks = draws.pick({2, 4, 8, 16});
    gpu["device"]["compute_major"] = 9;
    gpu["device"]["max_cluster_blocks"] = most_blocks;
    gpu["chip"]["cluster_order"] = draws.pick({"by_tpc", "any"});
    gpu["chip"]["lone_tpcs"] = chip.lone_tpcs;
    clusters_tell = most_blocks > chip.sms && chip.lone_tpcs == 0;
  }
  const bool others_tell = clusters_tell || clock_scope == "gpc";
  draw_ports(draws, chip, !others_tell || draws.chance(0.5), gpu["throughput"]);
  return gpu.dump(1);
}

}  // namespace sonde::test
