// What the jobs on caches, TLBs and latencies must find, read off a model's declaration.
#pragma once

#include "device/sim/die.hpp"
#include "sim/job_on_sim.hpp"

#include <algorithm>
#include <cstdlib>

namespace sonde::test {

inline constexpr std::array shipped_models{"gtx280", "c2070",       "gtx560ti", "gtx780",
                                           "gtx980", "fermi_dac16", "h200"};

/// The shared part that the cache jobs choose: the smallest that records a thousand accesses.
inline std::uint64_t chosen_carveout(JobOnSim& sim) {
  for (std::uint64_t carveout : sim.device().info().shared_carveouts_bytes) {
    if (sim.device().recordable_accesses(carveout) >= 1024) return carveout;
  }
  return sim.device().info().shared_bytes_per_sm;
}

inline const sim::PathModel* path_of(const sim::Model& model, LoadPath path) {
  const auto& declared = model.paths[static_cast<std::size_t>(path)];
  return declared ? &*declared : nullptr;
}

/// The cache before the L2 on this path; nullptr if there is none.
inline const sim::CacheModel* first_cache(const sim::Model& model, LoadPath path) {
  const sim::PathModel* declared = path_of(model, path);
  if (declared == nullptr || declared->caches.empty()) return nullptr;
  const sim::CacheModel& cache = model.caches[declared->caches.front()];
  return cache.name == "l2" ? nullptr : &cache;
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

inline std::uint64_t largest_entry(const sim::Model& model) {
  std::uint64_t entry = model.pages.page_bytes;
  for (const sim::CacheModel& tlb : model.pages.tlbs) entry = std::max(entry, tlb.line_bytes);
  return entry;
}

inline std::uint64_t smallest_entry(const sim::Model& model) {
  std::uint64_t entry = largest_entry(model);
  for (const sim::CacheModel& tlb : model.pages.tlbs) entry = std::min(entry, tlb.sector_bytes);
  return entry;
}

/// Findings of the cache and TLB jobs as they should be, for jobs that build on them.
inline void assume_hierarchy(JobOnSim& sim) {
  const sim::Model& model = sim.truth();
  const std::uint64_t carveout = chosen_carveout(sim);
  if (const sim::CacheModel* l1 = first_cache(model, LoadPath::all_levels)) {
    sim.assume("cache.l1.size_bytes", size_of(*l1, carveout));
    sim.assume("cache.l1.line_bytes", static_cast<double>(l1->line_bytes));
  }
  if (const sim::CacheModel* readonly = first_cache(model, LoadPath::read_only)) {
    sim.assume("cache.readonly.size_bytes", size_of(*readonly, carveout));
    sim.assume("cache.readonly.line_bytes", static_cast<double>(readonly->line_bytes));
  }
  if (const sim::CacheModel* l2 = model.find_cache("l2")) {
    const double part = size_of(*l2, carveout);
    sim.assume("cache.l2.size_bytes", part * model.partitions.count);
    sim.assume("cache.l2.first_miss_bytes", part);
    sim.assume("cache.l2.line_bytes", static_cast<double>(l2->line_bytes));
  }
  const char* names[] = {"tlb.l1", "tlb.l2", "tlb.l3"};
  for (std::size_t i = 0; i < model.pages.tlbs.size(); ++i) {
    const sim::CacheModel& tlb = model.pages.tlbs[i];
    const auto entries = static_cast<double>(tlb.geometries.front().lines());
    const std::string name = names[i];
    sim.assume(name + ".entries", entries);
    sim.assume(name + ".entry_bytes", static_cast<double>(tlb.line_bytes));
    sim.assume(name + ".reach_bytes", entries * static_cast<double>(tlb.line_bytes));
  }
  for (std::size_t i = model.pages.tlbs.size(); i < std::size(names); ++i) {
    sim.assume(no_answer(std::string(names[i]) + ".reach_bytes", Status::not_present, "assumed"));
  }
  if (!model.pages.tlbs.empty()) {
    sim.assume("tlb.page_bytes", static_cast<double>(smallest_entry(model)));
  }
  if (model.pages.window_bytes > 0) {
    sim.assume("tlb.page_window_bytes", static_cast<double>(model.pages.window_bytes));
  } else {
    sim.assume(no_answer("tlb.page_window_bytes", Status::not_present, "assumed"));
  }
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
