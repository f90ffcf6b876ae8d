// Fleets with faults drawn from a seed, for the laws of verdicts: what is planted where, in plain
// numbers, so that a fleet that breaks a law can be printed and becomes a test case.
#pragma once

#include "unit/analysis/fleet/fleet_maker.hpp"

#include "base/failure_marks.hpp"

#include <fmt/ranges.h>

#include <set>

namespace sonde::maker {

enum class Plant {
  slow_sm,
  ecc,
  xid,
  hang,
  wrong_data,
  narrow_link,
  low_bandwidth,
  high_latency,
  fewer_sms,
  smaller_l1
};
/// In this order, the name of each and the metric that shows it.
inline constexpr std::pair<const char*, const char*> plants[] = {
    {"slow_sm", "placement.l1_latency_cycles"},
    {"ecc", "health.ecc_uncorrected"},
    {"xid", "host.new_xids"},
    {"hang", "health.hang"},
    {"wrong_data", "health.wrong_data"},
    {"narrow_link", "host.link_width"},
    {"low_bandwidth", "global.read_bytes_per_s"},
    {"high_latency", "latency.dram_cycles"},
    {"fewer_sms", "device.sm_count"},
    {"smaller_l1", "cache.l1.size_bytes"}};

/// Whether the device shows it by itself, without peers.
inline bool is_shown_by_itself(Plant plant) { return plant < Plant::low_bandwidth; }

struct Planted {
  std::size_t device = 0;
  Plant plant = Plant::slow_sm;
  int place = 0;    // number of the SM
  double size = 0;  // cycles of a slow SM; a fraction of bandwidth, latency or capacity
  bool operator==(const Planted&) const = default;
};

struct DrawnFleet {
  std::uint64_t seed = 0;
  std::size_t devices = 1;
  std::vector<Planted> planted;
};

/// As a test case.
inline std::string to_text(const DrawnFleet& fleet) {
  std::vector<std::string> parts;
  for (const Planted& one : fleet.planted) {
    parts.push_back(fmt::format("{{{}, Plant::{}, {}, {:.4f}}}", one.device,
                                plants[static_cast<std::size_t>(one.plant)].first, one.place,
                                one.size));
  }
  return fmt::format("DrawnFleet{{{}, {}, {{{}}}}}", fleet.seed, fleet.devices,
                     fmt::join(parts, ", "));
}

/// @pre no other of its kind was planted there
inline void plant(RunResult& run, const Planted& one) {
  DeviceResult& device = run.devices[one.device];
  switch (one.plant) {
    case Plant::slow_sm:
      for (const char* map : {"placement.l1_latency_cycles", "placement.l2_latency_cycles"}) {
        slow_sm(device, map, static_cast<std::size_t>(one.place), one.size);
      }
      break;
    case Plant::ecc: device.after.ecc_uncorrected = device.before.ecc_uncorrected + 1; break;
    case Plant::xid:
      device.jobs.push_back(job("host", {found("host.new_xids", std::vector<double>{79}, 1, 1)}));
      break;
    case Plant::hang:
    case Plant::wrong_data: {
      const bool hangs = one.plant == Plant::hang;
      JobResult failed = job("shared", {});
      failed.status = Status::failed;
      failed.reason = std::string(hangs ? hang_mark : wrong_data_mark) + " in a probe";
      device.status = DeviceOutcome::incomplete;
      device.jobs.push_back(failed);
      break;
    }
    case Plant::narrow_link:
      device.jobs.push_back(job("host", {found("host.link_width", 8.0, 1, 1),
                                         found("host.most_link_width", 16.0, 1, 1)}));
      break;
    case Plant::low_bandwidth:
      scale_finding(device, "global.read_bytes_per_s", 1 - one.size);
      scale_finding(device, "global.write_bytes_per_s", 1 - one.size);
      break;
    case Plant::high_latency: scale_finding(device, "latency.dram_cycles", 1 + one.size); break;
    case Plant::fewer_sms: finding_of(device, "device.sm_count").value = 130.0; break;
    case Plant::smaller_l1: scale_finding(device, "cache.l1.size_bytes", 0.75); break;
  }
}

/// Healthy devices of a drawn fleet are not further out: a pair at both ends still agrees within
/// the tolerance of 3 %, and who is healthy is then no matter of chance.
inline constexpr Scatter drawn_scatter{.most_deviations = 2.5, .gpc_cycles = 4};

inline RunResult make_run(const DrawnFleet& fleet) {
  RunResult run = healthy_fleet(fleet.devices, fleet.seed, drawn_scatter);
  for (const Planted& one : fleet.planted) plant(run, one);
  return run;
}

/// 1 to 64 devices, small fleets more often; none to all of them with faults, pairs and triples
/// more often; of one kind or several, at the same place and of the same size or not.
inline DrawnFleet draw_fleet(std::uint64_t seed) {
  Random random(derive_seed(seed, "drawn fleet"));
  DrawnFleet fleet{.seed = seed, .devices = 1, .planted = {}};
  fleet.devices = static_cast<std::size_t>(std::exp2(6.02 * random.unit()));
  const std::size_t most = std::min<std::size_t>(fleet.devices, random.below(4) == 0 ? 64 : 3);
  const std::size_t faults = random.below(most + 1);
  const bool one_kind = random.below(2) == 0;
  const bool one_place = random.below(2) == 0;
  const auto draw = [&] {
    const Plant plant = static_cast<Plant>(random.below(std::size(plants)));
    const double size = plant == Plant::slow_sm ? 20 + static_cast<double>(random.below(40))
                                                : 0.08 + 0.5 * random.unit();
    return Planted{.device = 0,
                   .plant = plant,
                   .place = static_cast<int>(random.below(sm_count)),
                   .size = size};
  };
  const Planted first = draw();
  std::vector<std::size_t> order(fleet.devices);
  for (std::size_t i = 0; i < order.size(); ++i) order[i] = i;
  shuffle(order, random);
  for (std::size_t i = 0; i < faults; ++i) {
    Planted one = one_kind && one_place ? first : draw();
    if (one_kind) one.plant = first.plant;
    if (one_kind && one.plant == Plant::slow_sm) one.size = std::max(20.0, std::floor(one.size));
    if (one_kind && one.plant != Plant::slow_sm && one.size > 1) one.size /= 100;
    one.device = order[i];
    fleet.planted.push_back(one);
  }
  return fleet;
}

}  // namespace sonde::maker
