// The job slices finds which lines share a slice of simulated L2s, by functions that nobody knew
// when it was written, and says so where it cannot.
#include "analysis/structure/index/index_function.hpp"
#include "base/random.hpp"
#include "base/units.hpp"
#include "sim/job_on_sim.hpp"
#include "sim/shipped_json.hpp"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <bit>
#include <map>
#include <numeric>
#include <sstream>

namespace sonde::test {
namespace {

using nlohmann::json;
using testing::UnorderedElementsAre;

constexpr std::uint64_t page_bytes = 2_MiB;
constexpr std::uint64_t line_bytes = 128;

/// Masks whose part within a page is independent, so that the lines of a page lie in all slices.
std::vector<std::uint64_t> draw_masks(std::size_t count, Random& random) {
  constexpr std::uint64_t page_lines = page_bytes / line_bytes;
  constexpr std::uint64_t higher = 1 << 15;
  std::vector<std::uint64_t> masks;
  Gf2Basis basis;
  while (masks.size() < count) {
    const std::uint64_t within = random.below(page_lines) * line_bytes;
    if (basis.insert(within)) masks.push_back(within | random.below(higher) * page_bytes);
  }
  return masks;
}

std::vector<std::uint32_t> draw_order(std::uint32_t slices, Random& random) {
  std::vector<std::uint32_t> order(slices);
  std::iota(order.begin(), order.end(), 0u);
  shuffle(order, random);
  return order;
}

json draw_slices(std::uint32_t count, Random& random) {
  const bool divides = std::has_single_bit(count);
  const auto bits = static_cast<std::size_t>(std::bit_width(count - 1)) +
                    (divides ? 0 : 3 + static_cast<std::size_t>(random.below(3)));
  std::vector<std::string> masks;
  for (const std::uint64_t mask : draw_masks(bits + 1, random)) {
    masks.push_back(fmt::format("{:#x}", mask));
  }
  const std::string of_order = masks.back();
  masks.pop_back();
  json slices = {{"count", count},
                 {"spread_cycles", random.below(20)},
                 {"index", {{"kind", divides ? "xor_masks" : "xor_modulo"}, {"masks", masks}}},
                 {"reductions",
                  {{"served_sms", 4 + random.below(6)},
                   {"wait_cycles", 25 + random.below(40)},
                   {"port_wait_cycles", random.below(80)}}}};
  if (count > 1 && count % 2 == 1 && random.below(2) == 0) {
    slices["second_order"] = {{"mask", of_order}, {"slices", draw_order(count, random)}};
  }
  if (random.below(2) == 0) {
    std::vector<std::uint64_t> sides;
    for (std::uint32_t slice = 0; slice < count; ++slice) sides.push_back(random.below(2));
    slices["sides"] = {{"of_slice", sides}, {"far_cycles", 20 + random.below(20)}};
  }
  return slices;
}

/// An H200 with other slices, another number of SMs, and one partition or two.
json draw_gpu(std::uint64_t seed) {
  Random random(derive_seed(seed, "gpu with slices"));
  json model = json_of("h200");
  const auto gpcs = 3 + random.below(8);
  const auto tpcs = 3 + random.below(6);
  model["chip"]["gpcs"] = gpcs;
  model["chip"]["tpcs_per_gpc"] = tpcs;
  model["chip"]["min_tpcs_per_gpc"] = tpcs - 1;
  model["chip"]["enabled_tpcs"] = gpcs * tpcs - random.below(gpcs);
  model["caches"][1].erase("tpc_cycles");
  if (random.below(2) == 0) {
    model.erase("partitions");
    model["caches"][1]["scope"] = "device";
    for (auto& [name, path] : model["paths"].items()) {
      path["latency_cycles"].erase("far");
      path["latency_cycles"].erase("dram_far");
    }
  }
  constexpr std::uint32_t usual[]{2, 4, 8, 16, 32, 64};
  const auto count = random.below(2) == 0 ? usual[random.below(std::size(usual))]
                                          : static_cast<std::uint32_t>(2 + random.below(95));
  model["slices"] = draw_slices(count, random);
  return model;
}

/// Masks of "7^9, 8" or "x mod 47, x: 7^9, 8".
std::vector<std::uint64_t> parse_masks(std::string text) {
  if (const auto colon = text.find(": "); colon != std::string::npos) text.erase(0, colon + 2);
  std::vector<std::uint64_t> masks;
  std::istringstream bits(text);
  for (std::string mask; std::getline(bits, mask, ',');) {
    std::istringstream places(mask);
    masks.push_back(0);
    for (std::string place; std::getline(places, place, '^');) {
      masks.back() |= std::uint64_t{1} << std::stoi(place);
    }
  }
  return masks;
}

/// Whether two hashes part the lines of a page alike, for some value of what higher bits add.
bool part_alike(const std::vector<std::uint64_t>& first, const std::vector<std::uint64_t>& second,
                std::uint32_t slices) {
  if (first.size() != second.size()) return false;
  const auto fits = [&](std::uint64_t constant) {
    std::map<std::uint64_t, std::uint64_t> name;
    for (std::uint64_t offset = 0; offset < page_bytes; offset += line_bytes) {
      const std::uint64_t of_first = (fold_bits(offset, first) ^ constant) % slices;
      const std::uint64_t of_second = fold_bits(offset, second) % slices;
      if (name.try_emplace(of_first, of_second).first->second != of_second) return false;
    }
    return true;
  };
  for (std::uint64_t constant = 0; constant < std::uint64_t{1} << first.size(); ++constant) {
    if (fits(constant)) return true;
  }
  return false;
}

constexpr std::string_view second_order_text = ", in one of two orders by ";

/// What the masks span together with that of the order.
std::vector<std::uint64_t> spans_of(const std::vector<std::uint64_t>& masks, std::uint64_t order) {
  Gf2Basis basis;
  for (const std::uint64_t mask : masks) basis.insert(mask);
  basis.insert(order);
  return basis.rows();
}

enum class Outcome { exact, unresolved, wrong };

Outcome judge(const JobOnSim& sim) {
  const sim::Slices& truth = *sim.truth().slices;
  if (sim.status("cache.l2.slices") != Status::ok) return Outcome::unresolved;
  if (sim.number("cache.l2.slices") != truth.count) return Outcome::wrong;
  if (sim.status("cache.l2.slice_function") != Status::ok) return Outcome::unresolved;
  const std::string text = sim.text("cache.l2.slice_function");
  const auto second = text.find(second_order_text);
  if ((second != std::string::npos) != (truth.second_order.mask != 0)) return Outcome::wrong;
  std::vector<std::uint64_t> declared = truth.index.masks;
  for (std::uint64_t& mask : declared) mask &= page_bytes - 1;
  if (second == std::string::npos) {
    return part_alike(parse_masks(text), declared, static_cast<std::uint32_t>(truth.count))
               ? Outcome::exact
               : Outcome::wrong;
  }
  // Any of the masks may hold that of the order, too: what it adds is another second order.
  const std::uint64_t order_mask = truth.second_order.mask & (page_bytes - 1);
  if (parse_masks(text.substr(second + second_order_text.size())).front() != order_mask) {
    return Outcome::wrong;
  }
  const std::vector<std::uint64_t> masks = parse_masks(text.substr(0, second));
  return spans_of(masks, order_mask) == spans_of(declared, order_mask) ? Outcome::exact
                                                                       : Outcome::wrong;
}

std::vector<double> gpcs_of(const JobOnSim& sim) {
  std::vector<double> gpcs;
  for (const sim::DieSm& place : sim.die().sms) gpcs.push_back(place.gpc);
  return gpcs;
}

TEST(SlicesSimTest, of_random_functions_most_come_back_and_none_is_wrong) {
  int exact = 0;
  for (std::uint64_t seed = 1; seed <= 8; ++seed) {
    const std::string path = write_model(draw_gpu(seed), fmt::format("slices_{}", seed));
    JobOnSim sim(path, seed, {"clock"});
    if (seed % 2 == 0) sim.assume("topology.gpc_of_sm", gpcs_of(sim));
    sim.assume("cache.l2.size_bytes", 1.0);  // no slice is worth a search for its sets
    sim.run("slices");

    const Outcome outcome = judge(sim);
    EXPECT_NE(outcome, Outcome::wrong) << "seed " << seed << ", " << sim.truth().slices->count
                                       << " slices: " << sim.text("cache.l2.slice_function");
    exact += outcome == Outcome::exact;
  }
  EXPECT_GE(exact, 6);
}

/// Twins in so many ways cannot be told apart by what a set does; others must not be named.
constexpr const char* policies[]{"lru", "fifo", "tree_plru", "nru", "srrip", "random"};

struct SlicedGpu {
  json model;
  std::uint32_t sets = 0;
  std::uint32_t ways = 0;
  std::string policy;
  double part_bytes = 0;
  bool divided = false;
};

/// The same, with sets of its own in each slice, by a hash that is no part of the slice's.
SlicedGpu draw_sliced_gpu(std::uint64_t seed) {
  Random random(derive_seed(seed, "sets in slices"));
  json model = draw_gpu(seed);
  const auto slices = model["slices"]["count"].get<std::uint32_t>();
  json& l2 = model["caches"][1];
  SlicedGpu drawn{.model = {},
                  .sets = static_cast<std::uint32_t>(24 + random.below(300)),
                  .ways = static_cast<std::uint32_t>(4 + random.below(17)),
                  .policy = policies[random.below(std::size(policies))],
                  .divided = model.contains("partitions")};
  std::vector<std::string> masks;
  for (const std::uint64_t mask : draw_masks(12, random)) {
    masks.push_back(fmt::format("{:#x}", mask));
  }
  if (drawn.policy == "tree_plru") drawn.ways = std::bit_floor(drawn.ways);
  l2["sets"] = drawn.sets * slices;
  l2["ways"] = drawn.ways;
  l2["replacement"] = drawn.policy;
  l2["index"] = {{"kind", "slices"}, {"within", {{"kind", "xor_modulo"}, {"masks", masks}}}};
  drawn.part_bytes = static_cast<double>(drawn.sets * slices * drawn.ways * line_bytes);
  drawn.model = std::move(model);
  return drawn;
}

void run_slices_of(const SlicedGpu& gpu, JobOnSim& sim) {
  const json latencies = gpu.model["paths"]["atomic"]["latency_cycles"];
  const auto cycles = [&](const char* level) {
    const json& entry = latencies[level];
    return entry.is_number() ? entry.get<double>() : entry.begin()->get<double>();
  };
  sim.run("clock");
  sim.assume("cache.l2.size_bytes", (gpu.divided ? 2 : 1) * gpu.part_bytes);
  if (gpu.divided) {
    sim.assume("cache.l2.segment_bytes", gpu.part_bytes);
    sim.assume("cache.l2.far_hit_latency_cycles", cycles("far"));
    sim.assume("cache.l2.atomic_near_cycles", cycles("l2"));
    sim.assume("cache.l2.atomic_far_cycles", cycles("far"));
  }
  sim.run("slices");
}

TEST(SlicesSimTest, sets_of_a_slice_come_back_or_are_not_resolvable) {
  int exact = 0;
  for (std::uint64_t seed = 1; seed <= 5; ++seed) {
    const SlicedGpu gpu = draw_sliced_gpu(seed);
    JobOnSim sim(write_model(gpu.model, fmt::format("sets_in_slices_{}", seed)), seed);
    run_slices_of(gpu, sim);

    const std::string told =
        fmt::format("seed {}: {} sets of {} ways, {}; {}", seed, gpu.sets, gpu.ways, gpu.policy,
                    sim.find("cache.l2.slice_sets").reason);
    if (sim.status("cache.l2.slice_ways") == Status::ok) {
      EXPECT_EQ(sim.number("cache.l2.slice_ways"), gpu.ways) << told;
    }
    if (sim.status("cache.l2.slice_replacement") == Status::ok) {
      const std::string policy = sim.text("cache.l2.slice_replacement");
      EXPECT_EQ(policy == "LRU", gpu.policy == "lru") << told << ": " << policy;
    }
    if (sim.status("cache.l2.slice_sets") == Status::ok) {
      EXPECT_EQ(sim.number("cache.l2.slice_sets"), gpu.sets) << told;
      EXPECT_EQ(sim.number("cache.l2.slice_total_bytes"), (gpu.divided ? 2 : 1) * gpu.part_bytes);
      ++exact;
    }
  }
  EXPECT_GE(exact, 2);
}

TEST(SlicesSimTest, the_h200_has_47_on_two_sides) {
  for (std::uint64_t seed : {1u, 2u, 3u}) {
    JobOnSim sim("h200", seed, {"clock"});
    sim.assume("topology.gpc_of_sm", gpcs_of(sim));
    sim.run("slices");

    EXPECT_EQ(judge(sim), Outcome::exact) << seed;
    EXPECT_EQ(sim.vector("cache.l2.slice_latency_cycles").size(), 47u);
    EXPECT_THAT(sim.vector("cache.l2.side_slices"), UnorderedElementsAre(23, 24)) << seed;
    EXPECT_NEAR(sim.number("cache.l2.far_side_cycles"), sim.truth().slices->sides.far_cycles, 1);
    EXPECT_GT(sim.number("cache.l2.slice_fit_r2"), 0.8);
    EXPECT_EQ(sim.status("cache.l2.slowest_slice"), Status::not_present) << seed;
  }
}

/// One that lies far out of the others' spread, in both partitions.
TEST(SlicesSimTest, a_slow_slice_is_named) {
  JobOnSim sim("h200+slow_slice=5:60+slow_slice=52:60", 4, {"clock"});
  sim.assume("topology.gpc_of_sm", gpcs_of(sim));
  sim.run("slices");

  const std::vector<double> latencies = sim.vector("cache.l2.slice_latency_cycles");
  const auto slowest = std::max_element(latencies.begin(), latencies.end());
  EXPECT_EQ(sim.number("cache.l2.slowest_slice"), slowest - latencies.begin());
  EXPECT_GT(*slowest, 300);
}

TEST(SlicesSimTest, without_atomics_there_is_no_answer) {
  JobOnSim sim("gtx980", {"clock", "slices"});

  EXPECT_EQ(sim.status("cache.l2.slices"), Status::not_resolvable);
  EXPECT_NE(sim.find("cache.l2.slices").reason.find("atomic"), std::string::npos);
}

/// Where nobody waits there are no slices to be seen, and nothing is said of any.
TEST(SlicesSimTest, without_a_queue_there_is_no_answer) {
  json model = json_of("h200");
  model["slices"].erase("reductions");
  JobOnSim sim(write_model(model, "no_queue"), {"clock", "slices"});

  for (const char* metric : {"slices", "slice_function", "slice_latency_cycles", "slowest_slice"}) {
    EXPECT_EQ(sim.status(fmt::format("cache.l2.{}", metric)), Status::not_resolvable) << metric;
  }
}

}  // namespace
}  // namespace sonde::test
