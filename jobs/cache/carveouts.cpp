// One L1 after the other, each with another shared part: its exact bound, and for three of them its
// sets, as `cache.l1.*_by_carveout`.
#include "jobs/cache/carveouts.hpp"

#include "analysis/metrics.hpp"
#include "base/units.hpp"
#include "jobs/cache/capacity.hpp"

#include "jobs/cache/cache_probe.hpp"
#include "jobs/sets/replacement.hpp"
#include "jobs/sets/search.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

namespace sonde {
namespace {

// Sets found elsewhere must hold in all but one of some dozens of questions.
constexpr double same_sets = 0.98;

/// The cache with one shared part.
struct Carveout {
  std::uint64_t shared_bytes = 0;
  std::uint64_t size_bytes = 0;
  CacheUnderTest cache;
};

std::vector<Carveout> measure_sizes(const CacheUnderTest& cache, const CacheGeometry& geometry) {
  const std::uint64_t line_bytes = geometry.line_bytes;
  std::vector<Carveout> carveouts;
  for (std::uint64_t shared_bytes : cache.run.info().shared_carveouts_bytes) {
    const auto chase = set_up_chase_with_carveout(cache.run, cache.chase.path, shared_bytes);
    if (!chase) continue;
    CacheUnderTest part = cache;
    part.chase = *chase;
    part.outlier_share = geometry.outlier_share;
    part.name = fmt::format("{} with {} shared", cache.name, shared_bytes);
    const CapacityBound coarse = measure_coarse_bound(part, line_bytes);
    if (coarse.fitting_bytes == 0 || coarse.overflowing_bytes == 0) continue;
    const CapacityBound bound = measure_exact_bound(part, coarse, line_bytes);
    carveouts.push_back({shared_bytes, bound.fitting_bytes, part});
  }
  return carveouts;
}

std::vector<Carveout> smallest_middle_largest(const std::vector<Carveout>& carveouts) {
  if (carveouts.size() <= 3) return carveouts;
  return {carveouts.front(), carveouts[carveouts.size() / 2], carveouts.back()};
}

/// The sets known from elsewhere if they hold here, else those found anew, as far as time allows.
SetFindings find_structure(const Carveout& part, std::uint64_t line_bytes,
                           const SetFindings& known) {
  CacheProbe probe(part.cache, part.size_bytes, line_bytes);
  probe.spread_over_sms({});
  constexpr std::uint64_t share = 4;  // there are several, and less depends on them
  probe.limit_search(share);
  SetFindings found{.pool = known.pool, .layout = known.layout};
  try {
    if (!known.layout.resolved() || confirm_sets(probe, known) < same_sets) {
      found.layout = {};
      found.pool = probe.pool();
      found.layout = find_set_layout(found.pool, ask_behind(probe, {}));
    }
    if (found.layout.resolved()) found.replacement = measure_replacement(probe, found);
  } catch (const SearchOverTime& error) {
    found.reason = error.what();
  }
  return found;
}

std::string describe_replacement(const SetFindings& found) {
  const auto& fit = found.replacement;
  return fit && fit->policy && fit->alike.empty() ? std::string(to_text(*fit->policy))
                                                  : std::string("not resolved");
}

void report_structures(JobRun& run, const std::vector<Carveout>& carveouts,
                       const std::vector<SetFindings>& structures) {
  std::vector<double> shared_bytes, sets, ways, probabilities;
  std::vector<std::string> functions, policies;
  double confidence = 1;
  for (std::size_t i = 0; i < carveouts.size(); ++i) {
    const SetFindings& found = structures[i];
    const auto set_count = static_cast<double>(found.layout.ways_per_set.size());
    shared_bytes.push_back(static_cast<double>(carveouts[i].shared_bytes));
    sets.push_back(set_count);
    ways.push_back(set_count > 0 ? static_cast<double>(found.layout.lines()) / set_count : 0);
    const std::string where = format_bytes(shared_bytes.back());
    functions.push_back(fmt::format("{}: {}", where, describe(found.layout.index)));
    policies.push_back(fmt::format("{}: {}", where, describe_replacement(found)));
    if (found.replacement) {
      const std::vector<double>& shares = found.replacement->way_probability;
      probabilities.insert(probabilities.end(), shares.begin(), shares.end());
      confidence = std::min(confidence, found.replacement->confidence);
    }
    confidence = std::min(confidence, found.layout.agreement);
  }
  const auto report = [&](const char* metric, Value value) {
    run.report(found(metric, std::move(value), confidence, carveouts.size()));
  };
  report("cache.l1.structure_carveout_bytes", std::move(shared_bytes));
  report("cache.l1.sets_by_carveout", std::move(sets));
  report("cache.l1.ways_by_carveout", std::move(ways));
  report("cache.l1.index_function_by_carveout", fmt::format("{}", fmt::join(functions, "; ")));
  report("cache.l1.replacement_by_carveout", fmt::format("{}", fmt::join(policies, "; ")));
  if (probabilities.empty()) {
    run.report(not_present("cache.l1.way_probability_by_carveout",
                           "replacement is random with none of them"));
  } else {
    report("cache.l1.way_probability_by_carveout", std::move(probabilities));
  }
}

void report_no_carveouts(JobRun& run) {
  for (const Metric& metric : all_metrics()) {
    if (metric.name.find("carveout") == std::string_view::npos) continue;
    run.report_rest(metric.name, Status::not_present,
                    "shared memory and this cache do not share an array of variable parts");
  }
}

}  // namespace

void report_carveouts(const CacheUnderTest& cache, const CacheGeometry& geometry,
                      const SetFindings& largest) {
  const std::vector<Carveout> carveouts = measure_sizes(cache, geometry);
  if (carveouts.size() < 2) return report_no_carveouts(cache.run);
  std::vector<double> shared_bytes, sizes_bytes;
  for (const Carveout& part : carveouts) {
    shared_bytes.push_back(static_cast<double>(part.shared_bytes));
    sizes_bytes.push_back(static_cast<double>(part.size_bytes));
  }
  const std::size_t count = carveouts.size();
  cache.run.report(found("cache.l1.carveout_bytes", std::move(shared_bytes), 1, count));
  cache.run.report(found("cache.l1.size_by_carveout_bytes", std::move(sizes_bytes), 1, count));
  const std::vector<Carveout> chosen = smallest_middle_largest(carveouts);
  std::vector<SetFindings> structures;
  for (const Carveout& part : chosen) {
    structures.push_back(find_structure(part, geometry.line_bytes, largest));
  }
  report_structures(cache.run, chosen, structures);
}

}  // namespace sonde
