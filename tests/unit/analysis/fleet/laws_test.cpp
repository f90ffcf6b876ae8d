// The laws of DESIGN section 7 over thousands of drawn fleets: no fault hides another one, nobody
// is blamed for a neighbour, and the order of devices changes nothing. A fleet that breaks a law is
// printed as a test case. SONDE_LAW_FLEETS tells how many are drawn (1,000), SONDE_LAW_SEED from
// which seed on.
#include "analysis/fleet/verdict/reduce.hpp"

#include "unit/analysis/fleet/drawn_fleet.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <map>

namespace sonde {
namespace {

using namespace maker;

std::uint64_t number_from(const char* variable, std::uint64_t otherwise) {
  const char* text = std::getenv(variable);
  return text == nullptr ? otherwise : std::strtoull(text, nullptr, 10);
}

FleetAnalysis judged(const RunResult& run) { return reduce_fleet(run, options()); }
FleetAnalysis judged(const DrawnFleet& fleet) { return judged(make_run(fleet)); }

/// Whether the device is charged with that fault, and the unit that is named is the right one.
bool is_charged(const FleetAnalysis& analysis, const Planted& fault, std::size_t device) {
  return std::ranges::any_of(analysis.charges, [&](const Charge& charge) {
    return charge.device == device && charge.weighs() &&
           charge.metric.starts_with(plants[static_cast<std::size_t>(fault.plant)].second) &&
           (fault.plant != Plant::slow_sm || charge.unit.numbers == std::vector<int>{fault.place});
  });
}

/// Weighty charges on other grounds than peers, as text, by what does not depend on the fleet.
std::multiset<std::string> charges_without_peers(const FleetAnalysis& analysis,
                                                 std::size_t device) {
  std::multiset<std::string> all;
  for (const Charge& charge : analysis.charges) {
    if (charge.device != device || charge.ground == Ground::peers || !charge.weighs()) continue;
    all.insert(fmt::format("{} {} {} {:.6g}", charge.metric, fmt::join(charge.unit.numbers, ","),
                           to_text(charge.severity), charge.size));
  }
  return all;
}

/// Devices that have such a fault.
std::set<std::size_t> devices_with(const DrawnFleet& fleet, Plant plant) {
  std::set<std::size_t> devices;
  for (const Planted& one : fleet.planted) {
    if (one.plant == plant) devices.insert(one.device);
  }
  return devices;
}

/// Faults of that SM and size on more than two thirds of five devices and more: law 3.
bool is_how_they_are_built(const DrawnFleet& fleet, const Planted& fault) {
  std::size_t alike = 0;
  for (const Planted& one : fleet.planted) {
    if (one.plant == fault.plant && one.place == fault.place &&
        std::abs(one.size - fault.size) <= 0.25 * std::max(one.size, fault.size)) {
      ++alike;
    }
  }
  return fault.plant == Plant::slow_sm && fleet.devices >= 5 && 3 * alike > 2 * fleet.devices;
}

/// Law 1: what stands without peers is charged, however many have it, and as if it was alone.
std::string break_of_law_1(const DrawnFleet& fleet, const FleetAnalysis& analysis) {
  for (const Planted& fault : fleet.planted) {
    if (!is_shown_by_itself(fault.plant) || is_how_they_are_built(fleet, fault)) continue;
    if (!is_charged(analysis, fault, fault.device)) {
      return fmt::format("device {} is not charged", fault.device);
    }
    const RunResult whole = make_run(fleet);
    RunResult alone = whole;
    alone.devices = {whole.devices[fault.device]};
    const auto in_fleet = charges_without_peers(analysis, fault.device);
    const auto by_itself = charges_without_peers(judged(alone), 0);
    if (in_fleet != by_itself) {
      return fmt::format("device {} is charged with [{}], alone with [{}]", fault.device,
                         fmt::join(in_fleet, "; "), fmt::join(by_itself, "; "));
    }
  }
  return "";
}

bool is_healthy(const DrawnFleet& fleet, std::size_t device) {
  return std::ranges::none_of(fleet.planted,
                              [&](const Planted& one) { return one.device == device; });
}

/// Law 2, first half: fewer than half of a group: each is charged, and no healthy one fails. Second
/// half: from half on nobody passes.
std::string break_of_law_2(const DrawnFleet& fleet, const FleetAnalysis& analysis) {
  bool decided = true;
  for (const Planted& fault : fleet.planted) {
    if (is_shown_by_itself(fault.plant)) continue;
    const std::size_t faulty = devices_with(fleet, fault.plant).size();
    if (2 * faulty < fleet.devices && !is_charged(analysis, fault, fault.device)) {
      return fmt::format("device {} is not charged", fault.device);
    }
    if (2 * faulty < fleet.devices) continue;
    decided = false;
    if (faulty == fleet.devices) continue;  // nobody is left who could tell
    for (std::size_t device = 0; device < fleet.devices; ++device) {
      if (analysis.verdicts[device].verdict == Verdict::pass) {
        return fmt::format("{} of {} have it, and device {} passes", faulty, fleet.devices, device);
      }
    }
  }
  for (std::size_t device = 0; decided && device < fleet.devices; ++device) {
    if (is_healthy(fleet, device) && analysis.verdicts[device].verdict == Verdict::fail) {
      return fmt::format("healthy device {} fails: {}", device, analysis.verdicts[device].reason);
    }
  }
  return "";
}

/// A device more that is faulty, or one that becomes worse, improves nobody's verdict.
std::string break_of_law_2_by_adding(const DrawnFleet& fleet, const FleetAnalysis& before) {
  if (fleet.planted.empty()) return "";
  const Planted fault = fleet.planted.front();
  if (is_shown_by_itself(fault.plant) ||
      2 * (devices_with(fleet, fault.plant).size() + 1) >= fleet.devices) {
    return "";
  }
  for (const Planted& one : fleet.planted) {
    if (2 * devices_with(fleet, one.plant).size() >= fleet.devices) return "";
  }
  DrawnFleet more = fleet;
  for (std::size_t device = 0; device < fleet.devices; ++device) {
    if (!is_healthy(fleet, device)) continue;
    more.planted.push_back(fault);
    more.planted.back().device = device;
    break;
  }
  DrawnFleet worse = fleet;
  worse.planted.front().size = std::min(0.9, 1.5 * fault.size);
  for (const DrawnFleet& changed : {more, worse}) {
    const FleetAnalysis after = judged(changed);
    for (std::size_t device = 0; device < fleet.devices; ++device) {
      if (after.verdicts[device].verdict < before.verdicts[device].verdict) {
        return fmt::format("device {} improves from {} to {} in {}", device,
                           to_text(before.verdicts[device].verdict),
                           to_text(after.verdicts[device].verdict), to_text(changed));
      }
    }
  }
  return "";
}

/// Law 3: only the same unit with the same size on more than two thirds is how they are built.
std::string break_of_law_3(const DrawnFleet& fleet, const FleetAnalysis& analysis) {
  for (const Planted& fault : fleet.planted) {
    if (fault.plant != Plant::slow_sm) continue;
    const bool charged = is_charged(analysis, fault, fault.device);
    if (charged == is_how_they_are_built(fleet, fault)) {
      return fmt::format("SM {} of device {} is {}", fault.place, fault.device,
                         charged ? "charged" : "acquitted");
    }
  }
  return "";
}

/// Law 4: the order of ranks changes nothing, nor does another healthy device in the place of one.
std::string break_of_law_4(const DrawnFleet& fleet, const FleetAnalysis& before) {
  const RunResult run = make_run(fleet);
  RunResult turned = run;
  std::ranges::rotate(turned.devices, turned.devices.begin() + turned.devices.size() / 2);
  const FleetAnalysis after = judged(turned);
  for (std::size_t i = 0; i < run.devices.size(); ++i) {
    const std::string& uuid = turned.devices[i].info.uuid;
    const auto same =
        std::ranges::find(run.devices, uuid, [](const DeviceResult& one) { return one.info.uuid; });
    const DeviceVerdict& verdict =
        before.verdicts[static_cast<std::size_t>(same - run.devices.begin())];
    if (after.verdicts[i].verdict != verdict.verdict ||
        after.verdicts[i].reason != verdict.reason) {
      return fmt::format("{} depends on the order: '{}' or '{}'", uuid, verdict.reason,
                         after.verdicts[i].reason);
    }
  }
  for (std::size_t device = 0; device < fleet.devices; ++device) {
    if (!is_healthy(fleet, device)) continue;
    RunResult replaced = run;
    replaced.devices[device] = healthy_device(device, fleet.seed ^ 0x5eedULL, drawn_scatter);
    const FleetAnalysis other = judged(replaced);
    for (std::size_t i = 0; i < fleet.devices; ++i) {
      if (i == device || other.verdicts[i].verdict == before.verdicts[i].verdict) continue;
      return fmt::format("device {} goes from {} to {} when healthy device {} is another one", i,
                         to_text(before.verdicts[i].verdict), to_text(other.verdicts[i].verdict),
                         device);
    }
    break;
  }
  return "";
}

using Law = std::string (*)(const DrawnFleet&, const FleetAnalysis&);

class LawTest : public ::testing::TestWithParam<Law> {};

TEST_P(LawTest, holds_for_every_drawn_fleet) {
  const std::uint64_t first = number_from("SONDE_LAW_SEED", 1);
  const std::uint64_t count = number_from("SONDE_LAW_FLEETS", 1'000);
  // Found among a million: an SM that all have, seen faintly by half of them; three GPUs that
  // scatter evenly over 12 %.
  std::vector<std::uint64_t> seeds{7'236'145, 7'063'321, 7'570'609, 7'082'429};
  for (std::uint64_t seed = first; seed < first + count; ++seed) seeds.push_back(seed);
  std::uint64_t broken = 0;
  for (const std::uint64_t seed : seeds) {
    const DrawnFleet fleet = draw_fleet(seed);
    const std::string why = GetParam()(fleet, judged(fleet));
    if (why.empty() || ++broken > 3) continue;
    ADD_FAILURE() << why << "\nin " << to_text(fleet);
  }
  EXPECT_EQ(broken, 0u) << "of " << seeds.size() << " fleets";
}

std::string name_of_law(const ::testing::TestParamInfo<Law>& law) {
  constexpr const char* names[] = {"itself_stands_alone", "peers_by_majority",
                                   "no_fault_helps_another", "how_they_are_built",
                                   "order_is_nothing"};
  return names[law.index];
}

INSTANTIATE_TEST_SUITE_P(Drawn, LawTest,
                         ::testing::Values(&break_of_law_1, &break_of_law_2,
                                           &break_of_law_2_by_adding, &break_of_law_3,
                                           &break_of_law_4),
                         name_of_law);

/// Law 6: what the first look saw alone and the second did not is a note; another unit of the same
/// map does not confirm it.
TEST(SecondLookLawTest, only_the_same_unit_confirms) {
  for (const int second_sm : {17, 40, -1}) {
    RunResult run = healthy_fleet(4, 7);
    plant(run, {.device = 2, .plant = Plant::slow_sm, .place = 17, .size = 60});
    DeviceResult again = healthy_device(2, 7);
    if (second_sm >= 0) {
      for (const char* map : {"placement.l1_latency_cycles", "placement.l2_latency_cycles"}) {
        slow_sm(again, map, static_cast<std::size_t>(second_sm), 60);
      }
    }
    run.devices[2].again = {again.jobs.back()};

    const bool stays = judged(run).verdicts[2].verdict == Verdict::fail;

    EXPECT_EQ(stays, second_sm == 17) << "second look: SM " << second_sm;
  }
}

}  // namespace
}  // namespace sonde
