// Sizes and structures by carve-out.
#include "jobs/cache/carveouts.hpp"

#include "base/units.hpp"
#include "jobs/sets/cache_probe.hpp"
#include "jobs/sets/replacement.hpp"
#include "jobs/sets/search.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <array>

namespace sonde {
namespace {

constexpr std::array carveout_metrics{
    "cache.l1.carveout_bytes",           "cache.l1.size_by_carveout_bytes",
    "cache.l1.structure_carveout_bytes", "cache.l1.sets_by_carveout",
    "cache.l1.ways_by_carveout",         "cache.l1.index_function_by_carveout",
    "cache.l1.replacement_by_carveout",  "cache.l1.way_probability_by_carveout"};
// Sets found elsewhere must hold in all but one of some dozens of questions.
constexpr double same_sets = 0.98;

/// The cache co_resident one shared part.
struct Part {
  std::uint64_t carveout_bytes = 0;
  std::uint64_t size_bytes = 0;
  CacheUnderTest cache;
};

std::vector<Part> measure_parts(JobRun& run, const CacheUnderTest& cache,
                                const CacheGeometry& shape) {
  std::vector<Part> parts;
  for (std::uint64_t carveout_bytes : run.info().shared_carveouts_bytes) {
    const auto setup = set_up_chase_with_carveout(run, cache.setup.path, carveout_bytes);
    if (!setup) continue;
    CacheUnderTest part = cache;
    part.setup = *setup;
    part.name = fmt::format("{} beside {}", cache.name, carveout_bytes);
    const CapacityBound coarse = measure_coarse_bound(run, part, shape.line_bytes);
    if (coarse.fitting_bytes == 0 || coarse.overflowing_bytes == 0) continue;
    const CapacityBound bound = measure_exact_bound(run, part, coarse, shape.line_bytes);
    parts.push_back({carveout_bytes, bound.fitting_bytes, part});
  }
  return parts;
}

std::vector<Part> smallest_middle_largest(const std::vector<Part>& parts) {
  if (parts.size() <= 3) return parts;
  return {parts.front(), parts[parts.size() / 2], parts.back()};
}

/// The sets known from elsewhere if they hold here, else those found anew.
SetFindings structure_of(JobRun& run, const Part& part, std::uint64_t line_bytes,
                         const SetFindings& known) {
  CacheProbe probe(run, part.cache, part.size_bytes, line_bytes);
  probe.spread_over_sms({});
  SetFindings found{.pool = known.pool, .layout = known.layout};
  if (!known.layout.resolved() || confirm_sets(probe, known) < same_sets) {
    found.pool = probe.pool();
    found.layout = find_set_layout(found.pool, ask_behind(probe, {}));
  }
  if (found.layout.resolved()) found.replacement = measure_replacement(probe, found);
  return found;
}

std::string replacement_text(const SetFindings& found) {
  const auto& fit = found.replacement;
  return fit && fit->policy && fit->alike.empty() ? std::string(to_text(*fit->policy))
                                                  : std::string("not resolved");
}

void report_structures(JobRun& run, const std::vector<Part>& parts, std::uint64_t line_bytes,
                       const SetFindings& known) {
  std::vector<double> carveouts_bytes;
  std::vector<double> sets;
  std::vector<double> ways;
  std::vector<double> probabilities;
  std::vector<std::string> functions;
  std::vector<std::string> policies;
  double confidence = 1;
  for (const Part& part : parts) {
    const SetFindings found = structure_of(run, part, line_bytes, known);
    const auto set_count = static_cast<double>(found.layout.ways_per_set.size());
    carveouts_bytes.push_back(static_cast<double>(part.carveout_bytes));
    sets.push_back(set_count);
    ways.push_back(set_count > 0 ? static_cast<double>(found.layout.lines()) / set_count : 0);
    const std::string where = format_bytes(static_cast<double>(part.carveout_bytes));
    functions.push_back(fmt::format("{}: {}", where, describe(found.layout.index)));
    policies.push_back(fmt::format("{}: {}", where, replacement_text(found)));
    if (found.replacement) {
      const std::vector<double>& shares = found.replacement->way_probability;
      probabilities.insert(probabilities.end(), shares.begin(), shares.end());
      confidence = std::min(confidence, found.replacement->confidence);
    }
    confidence = std::min(confidence, found.layout.agreement);
  }
  const std::uint64_t samples = parts.size();
  const auto report = [&](const char* metric, Value value) {
    run.report(found(metric, std::move(value), confidence, samples));
  };
  report("cache.l1.structure_carveout_bytes", std::move(carveouts_bytes));
  report("cache.l1.sets_by_carveout", std::move(sets));
  report("cache.l1.ways_by_carveout", std::move(ways));
  report("cache.l1.index_function_by_carveout", fmt::format("{}", fmt::join(functions, "; ")));
  report("cache.l1.replacement_by_carveout", fmt::format("{}", fmt::join(policies, "; ")));
  if (probabilities.empty()) {
    run.report(not_present("cache.l1.way_probability_by_carveout",
                           "victims are not drawn by lot beside any of them"));
  } else {
    report("cache.l1.way_probability_by_carveout", std::move(probabilities));
  }
}

}  // namespace

void report_carveouts_absent(JobRun& run, const std::string& reason) {
  for (const char* metric : carveout_metrics) run.report(not_present(metric, reason));
}

void report_carveouts(JobRun& run, const CacheUnderTest& cache, const CacheGeometry& shape,
                      const SetFindings& largest) {
  const std::vector<Part> parts = measure_parts(run, cache, shape);
  if (parts.size() < 2) {
    report_carveouts_absent(run,
                            "shared memory and this cache do not share an array of variable parts");
    return;
  }
  std::vector<double> carveouts_bytes;
  std::vector<double> sizes_bytes;
  for (const Part& part : parts) {
    carveouts_bytes.push_back(static_cast<double>(part.carveout_bytes));
    sizes_bytes.push_back(static_cast<double>(part.size_bytes));
  }
  run.report(found("cache.l1.carveout_bytes", std::move(carveouts_bytes), 1, parts.size()));
  run.report(found("cache.l1.size_by_carveout_bytes", std::move(sizes_bytes), 1, parts.size()));
  report_structures(run, smallest_middle_largest(parts), shape.line_bytes, largest);
}

}  // namespace sonde
