// Draws of chips.
#include "support/random_floor_map.hpp"

#include "device/sim/model/model_files.hpp"
#include "support/floor_draws.hpp"

#include <nlohmann/json.hpp>

#include <algorithm>

namespace sonde::test {
namespace {

using nlohmann::json;

constexpr std::uint64_t most_sms = 160;

json shipped_json(std::string_view name) {
  return sim::read_whole(json{{"base", name}}.dump(), "test");
}

Floor draw_chip(Draws& draws) {
  for (;;) {
    Floor chip{
        .gpcs = draws.between(4, 12), .tpcs = draws.between(3, 9), .sms = draws.between(1, 3)};
    chip.least_tpcs = std::max<std::uint64_t>(3, chip.tpcs - chip.tpcs / 3);
    chip.enabled_tpcs = draws.between(chip.gpcs * chip.least_tpcs, chip.gpcs * chip.tpcs);
    chip.lone_tpcs = draws.chance(0.3) ? draws.between(1, chip.gpcs / 2) : 0;
    // Three SMs that share a clock or clusters may be a TPC as well as a GPC.
    const bool is_clear = chip.least_tpcs * chip.sms > 3;
    if (is_clear && chip.enabled_tpcs * chip.sms <= most_sms) return chip;
  }
}

}  // namespace

std::string draw_floor_map(std::uint64_t seed) {
  Draws draws(seed, "floor map");
  const Floor chip = draw_chip(draws);
  json gpu = shipped_json("gtx980");
  gpu["source"] = "drawn";
  for (json& cache : gpu["caches"]) {  // as much for each SM as real ones have
    if (cache["name"] == "l2") cache["ways"] = 128;
  }
  gpu["device"]["l2_bytes"] = "16 MiB";
  gpu["chip"] = to_json(chip);
  gpu["chip"]["numbering"] = draws.pick({"tpc_major", "round_robin"});
  gpu["clock"]["scope"] = draws.pick({"sm", "sm", "sm", "tpc", "gpc"});
  bool clusters_tell = false;
  if (draws.chance(0.5)) {
    const std::uint64_t most_blocks = draw_clusters(draws, chip, gpu);
    clusters_tell = most_blocks > chip.sms && chip.lone_tpcs == 0;
  }
  if (!clusters_tell) gpu["clock"]["scope"] = "gpc";
  draw_ports(draws, chip, draws.chance(0.5), gpu["throughput"]);
  return gpu.dump(1);
}

}  // namespace sonde::test
