// Compares the found map with that of the die.
#include "sim/score/floor_map_score.hpp"

#include "analysis/structure/cores/chip_map.hpp"
#include "device/sim/model/die.hpp"
#include "device/sim/model/model_files.hpp"
#include "device/sim/sim_device.hpp"
#include "jobs/suite.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace sonde::test {
namespace {

constexpr double doubted_confidence = 0.5;

SmGroups truth_of(const sim::Die& die, int sim::DieSm::*unit) {
  std::vector<int> group_of_sm;
  for (const sim::DieSm& place : die.sms) group_of_sm.push_back(place.*unit);
  return make_groups(group_of_sm, Singles::keep);
}

MapScore score_map(const Finding& found, const SmGroups& truth) {
  if (found.status != Status::ok) return MapScore::none;
  const auto& values = std::get<std::vector<double>>(found.value);
  const std::vector<int> numbers(values.begin(), values.end());
  if (!same_groups(make_groups(numbers, Singles::keep), truth)) {
    return found.confidence < doubted_confidence ? MapScore::doubted : MapScore::wrong;
  }
  return std::ranges::count(numbers, -1) > 0 ? MapScore::partial : MapScore::exact;
}

bool is_count(const Finding& found, const SmGroups& truth) {
  const auto* count = std::get_if<double>(&found.value);
  return found.status != Status::ok ||
         (count != nullptr && *count == static_cast<double>(truth.sizes.size()));
}

std::string describe(const sim::Model& model) {
  const sim::ChipModel& chip = model.chip;
  const sim::ThroughputModel& rates = model.units.throughput;
  return fmt::format(
      "{} GPCs, {} of {} TPCs of {} SMs, clusters of {} in order {} ({} lone), clock scope {}, "
      "ports {:.0f} {:.0f} {:.0f}, L2 {:.0f}",
      chip.gpcs, chip.enabled_tpcs, chip.gpcs * chip.tpcs_per_gpc, chip.sms_per_tpc,
      model.device.max_cluster_blocks, static_cast<int>(chip.cluster_order), chip.lone_tpcs,
      static_cast<int>(model.clock.scope), rates.sm_port_bytes_per_cycle,
      rates.tpc_port_bytes_per_cycle, rates.gpc_port_bytes_per_cycle, rates.l2_bytes_per_cycle);
}

std::string describe(const Finding& found) {
  return fmt::format("{} {:.2f} {}", to_text(found.status), found.confidence, found.reason);
}

}  // namespace

FloorMapScore score_floor_map(const std::string& model_text, std::uint64_t seed) {
  const sim::Model model = sim::parse_model(model_text, "drawn chip");
  const std::uint64_t die_seed = sim::die_seed(seed, 0);
  sim::SimDevice device({model, {}}, die_seed);
  std::vector<JobResult> results;
  for (const Job& job : all_jobs()) {
    if (job.name != "clock" && job.name != "topology") continue;
    results.push_back(run_job(job, device, SuiteLevel::standard, seed, results, 600, {}).result);
  }
  const sim::Die die = sim::make_die(model, {}, die_seed);
  const std::vector<Finding>& findings = results.back().findings;
  const Finding& gpcs = *find_finding(findings, "topology.gpc_of_sm");
  const Finding& tpcs = *find_finding(findings, "topology.tpc_of_sm");
  const SmGroups true_gpcs = truth_of(die, &sim::DieSm::gpc);
  const SmGroups true_tpcs = truth_of(die, &sim::DieSm::tpc);
  return {.gpcs = score_map(gpcs, true_gpcs),
          .tpcs = score_map(tpcs, true_tpcs),
          .counts_are_right = is_count(*find_finding(findings, "topology.gpc_count"), true_gpcs) &&
                              is_count(*find_finding(findings, "topology.tpc_count"), true_tpcs),
          .text = fmt::format("seed {}: {}; GPCs {}; TPCs {}; {} probes", seed, describe(model),
                              describe(gpcs), describe(tpcs), results.back().probes.size())};
}

}  // namespace sonde::test
