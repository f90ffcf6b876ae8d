// What the jobs on caches, TLBs and latencies must find, read off a model's declaration.
#pragma once

#include "sim/job_on_sim.hpp"
#include "sim/published_numbers.hpp"
#include "sim/score/declared_suite.hpp"
#include "sim/score/finding_verdict.hpp"
#include "sim/shipped_json.hpp"

#include <algorithm>
#include <cstdlib>

namespace sonde::test {

/// The shared part that the cache jobs choose.
inline std::uint64_t chosen_carveout(JobOnSim& sim) {
  const std::vector<std::uint64_t> carveouts = recordable_carveouts(sim.device());
  return carveouts.empty() ? sim.device().info().shared_bytes_per_sm : carveouts.front();
}

inline bool has_prefix_of(std::string_view metric, const std::vector<std::string>& prefixes) {
  return std::ranges::any_of(prefixes,
                             [&](const std::string& prefix) { return metric.starts_with(prefix); });
}

/// Findings with these prefixes are what the papers print: structure exactly, cycles to 3 %.
inline void expect_published(const JobOnSim& sim, const std::vector<std::string>& prefixes) {
  for (const auto& [gpu, metric, value] : published_numbers) {
    if (gpu != sim.truth().device.name || !has_prefix_of(metric, prefixes)) continue;
    const Finding* finding = sim.find_if_any(metric);
    if (finding == nullptr || finding->status == Status::skipped) continue;
    if (const auto* text = std::get_if<std::string_view>(&value)) {
      EXPECT_EQ(sim.text(metric), *text) << metric;
    } else {
      const double number = std::get<double>(value);
      const bool in_cycles = metric.ends_with("_cycles");
      EXPECT_NEAR(sim.number(metric), number, in_cycles ? std::max(0.5, 0.03 * number) : 1e-6)
          << metric;
    }
  }
}

/// What the model declares of metrics with these prefixes was found, as far as the suite asks for
/// it, and is what the papers print.
/// @param unresolved so many may be honestly left open
inline void expect_declared(JobOnSim& sim, const std::vector<std::string>& prefixes,
                            int unresolved = 0) {
  int judged = 0;
  for (const DeclaredValue& declared : declared_suite(sim.truth(), sim.seed(), sim.device())) {
    const Finding* finding = sim.find_if_any(declared.metric);
    if (!has_prefix_of(declared.metric, prefixes)) continue;
    if (finding != nullptr && finding->status == Status::skipped) continue;
    ++judged;
    const Verdict verdict = judge(declared, finding);
    if (verdict == Verdict::unresolvable && unresolved-- > 0) continue;
    EXPECT_EQ(verdict, Verdict::right)
        << declared.metric << ": declared " << describe(declared.value) << ", found "
        << (finding != nullptr ? describe(*finding) : "nothing");
  }
  EXPECT_GT(judged, 5);
  expect_published(sim, prefixes);
}

inline double size_of(const sim::CacheModel& cache, std::uint64_t carveout) {
  return static_cast<double>(cache.size_bytes(cache.geometry_for(carveout)));
}

/// Cycles by which this die's SM 0 lies above the declared latencies of a path's last cache.
inline double sm_offset_cycles(const sim::Model& model, std::uint64_t seed, LoadPath path) {
  const sim::Die die = sim::make_die(model, {}, sim::die_seed(seed, 0));
  const sim::PathModel* declared = path_of(model, path);
  if (declared == nullptr || declared->caches.empty()) return 0;
  return die.cache_offset_cycles[declared->caches.back()][0];
}

/// The bar: two cycles or one per cent; lines lie in slices of different distance.
inline double tolerance_cycles(const sim::Model& model, double expected_cycles) {
  const double slices = model.slices ? model.slices->spread_cycles / 2 : 0;
  return std::max(2.0, expected_cycles / 100) + slices;
}

/// A shipped model and a seed, for tests that run on all of them.
class ShippedModelTest : public testing::TestWithParam<std::tuple<const char*, std::uint64_t>> {
 protected:
  std::string model_name() const { return std::get<0>(GetParam()); }
  std::uint64_t seed() const { return std::get<1>(GetParam()); }
  JobOnSim sim_{model_name(), seed()};
};

inline std::string name_case(
    const testing::TestParamInfo<std::tuple<const char*, std::uint64_t>>& info) {
  return std::string(std::get<0>(info.param)) + "_seed_" + std::to_string(std::get<1>(info.param));
}

/// Seeds from 1 to `usual`; in ./bootstrap.sh soak, which sets SONDE_ALL_SEEDS, to 10.
inline auto seeds_to(std::uint64_t usual) {
  const bool all = std::getenv("SONDE_ALL_SEEDS") != nullptr;
  return testing::Range<std::uint64_t>(1, (all ? 10 : usual) + 1);
}

inline auto all_models_and_seeds() {
  return testing::Combine(testing::ValuesIn(shipped_models), seeds_to(3));
}

}  // namespace sonde::test
