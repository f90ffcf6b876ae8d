// Jobs `cache.l1` and `cache.readonly`: the first cache of plain loads (ca) and that of read-only
// loads (nc), which may be the same cache. Method: docs/methods/cache.md.

#include "analysis/metrics.hpp"
#include "analysis/statistics.hpp"
#include "analysis/structure/latency/latency_classes.hpp"
#include "base/gpu_facts.hpp"
#include "base/random.hpp"
#include "base/units.hpp"
#include "jobs/cache/cache_probe.hpp"
#include "jobs/cache/capacity.hpp"
#include "jobs/cache/every_sm.hpp"
#include "jobs/cache/geometry.hpp"
#include "jobs/cache/known_array.hpp"
#include "jobs/cache/report.hpp"
#include "jobs/cache/writes_and_prefetch.hpp"
#include "jobs/chase/known_latencies.hpp"
#include "jobs/run/attempt.hpp"
#include "jobs/sets/search.hpp"
#include "jobs/sets/sets_probe.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

namespace sonde {
namespace {

// Share of right predictions if known sets also hold here, in some dozens of questions.
constexpr double same_sets = 0.98;

/// The cache with one carve-out.
struct Carveout {
  std::uint64_t shared_bytes = 0;
  std::uint64_t size_bytes = 0;
  CacheUnderTest cache;
  Predictions tried;  // of the size
};

/// Predicts that footprints of the size stay and that those of two lines more do not, on many SMs
/// at once.
Predictions try_size(CacheProbe probe, std::uint64_t size_bytes) {
  constexpr std::uint64_t tries = 10;
  const std::uint64_t line_bytes = probe.pool().line_bytes;
  std::vector<Lines> lists;
  for (std::uint64_t i = 0; i < tries; ++i) {
    for (const std::uint64_t span_bytes : {size_bytes, size_bytes + 2 * line_bytes})
      lists.push_back(shuffled_order(span_bytes, line_bytes, probe.pool().seed + i));
  }
  const std::vector<MissCounts> answers = probe.ask(lists, {});
  Predictions tried{.asked = lists.size()};
  for (std::size_t i = 0; i < lists.size(); ++i)
    tried.right += overflows(answers[i]) == (lists[i].size() > size_bytes / line_bytes);
  return tried;
}

/// The size is proposed from another carve-out, as the cache has what shared memory leaves of one
/// array; if that is wrong, it is searched for. @param probe of the cache, on all its SMs
void measure_size(Carveout& part, const std::vector<Carveout>& others, const CacheProbe& probe) {
  if (!others.empty()) {
    const std::uint64_t array_bytes = others.back().size_bytes + others.back().shared_bytes;
    part.size_bytes = array_bytes - std::min(array_bytes, part.shared_bytes);
    if (part.size_bytes > 0)
      part.tried = try_size(probe.of(part.cache, part.size_bytes), part.size_bytes);
    if (part.tried.bear_out()) return;
  }
  const std::uint64_t line_bytes = probe.pool().line_bytes;
  const CapacityBound coarse = measure_coarse_bound(part.cache, line_bytes);
  const bool is_bound = coarse.fitting_bytes > 0 && coarse.overflowing_bytes > 0;
  const TriedBound found =
      is_bound ? find_tried_bound(part.cache, coarse, line_bytes) : TriedBound{};
  part.size_bytes = found.bound.fitting_bytes;
  part.tried = found.tried;
}

std::vector<Carveout> measure_sizes(const CacheUnderTest& cache, const CacheGeometry& geometry,
                                    const CacheProbe& probe) {
  std::vector<Carveout> carveouts;
  for (std::uint64_t shared_bytes : cache.run.info().shared_carveouts_bytes) {
    const auto chase = set_up_chase_with_carveout(cache.run, cache.chase.path, shared_bytes);
    if (!chase) continue;
    Carveout part{.shared_bytes = shared_bytes, .size_bytes = 0, .cache = cache, .tried = {}};
    part.cache.chase = *chase;
    part.cache.outlier_share = geometry.outlier_share;
    part.cache.name = fmt::format("{} with {} shared", cache.name, shared_bytes);
    measure_size(part, carveouts, probe);
    if (part.size_bytes > 0) carveouts.push_back(std::move(part));
  }
  return carveouts;
}

std::vector<Carveout> smallest_middle_largest(const std::vector<Carveout>& carveouts) {
  if (carveouts.size() <= 3) return carveouts;
  return {carveouts.front(), carveouts[carveouts.size() / 2], carveouts.back()};
}

/// The known sets if they hold here, else newly found sets, as far as time allows.
SetFindings find_structure(const Carveout& part, std::uint64_t line_bytes,
                           const SetFindings& known) {
  CacheProbe probe(part.cache, part.size_bytes, line_bytes);
  probe.spread_over_sms({});
  constexpr std::uint64_t share = 4;  // several caches share the time
  probe.limit_search(share);
  SetFindings found{.pool = known.pool, .layout = known.layout};
  try {
    if (!known.layout.resolved() || known.layout.index.kind == IndexKind::unresolved ||
        try_sets(probe, known).confidence() < same_sets) {
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
    confidence = std::min(confidence, found.layout.checked.confidence());
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
                           "replacement is random with none of these carve-outs"));
  } else {
    report("cache.l1.way_probability_by_carveout", std::move(probabilities));
  }
}

void report_no_carveouts(JobRun& run) {
  for (const Metric& metric : all_metrics()) {
    if (metric.name.find("carveout") == std::string_view::npos) continue;
    run.report_rest(metric.name, Status::not_present,
                    "this cache and shared memory do not divide one array");
  }
}

/// Reports sizes for every carve-out that holds a record; sets and replacement for the smallest,
/// the middle and the largest of these.
/// @param probe of the cache, on all its SMs
/// @param largest the sets that were found with the smallest carve-out
void report_carveouts(const CacheUnderTest& cache, const CacheGeometry& geometry,
                      const CacheProbe& probe, const SetFindings& largest) {
  const std::vector<Carveout> carveouts = measure_sizes(cache, geometry, probe);
  if (carveouts.size() < 2) return report_no_carveouts(cache.run);
  std::vector<double> shared_bytes, sizes_bytes;
  std::vector<std::string> left_out;
  Predictions tried;
  for (const Carveout& part : carveouts) {
    if (!part.tried.bear_out()) {
      left_out.push_back(format_bytes(static_cast<double>(part.shared_bytes)));
      continue;
    }
    shared_bytes.push_back(static_cast<double>(part.shared_bytes));
    sizes_bytes.push_back(static_cast<double>(part.size_bytes));
    tried += part.tried;
  }
  const std::string remark =
      left_out.empty() ? std::string()
                       : fmt::format("no footprint gives the size with {} of shared memory",
                                     fmt::join(left_out, ", "));
  if (sizes_bytes.empty()) {
    cache.run.leave_open("cache.l1.carveout_bytes", remark);
    cache.run.leave_open("cache.l1.size_by_carveout_bytes", remark);
  } else {
    const std::size_t sizes = sizes_bytes.size();
    cache.run.report(found("cache.l1.carveout_bytes", std::move(shared_bytes), 1, sizes));
    cache.run.report(found("cache.l1.size_by_carveout_bytes", std::move(sizes_bytes),
                           tried.confidence(), tried.asked),
                     remark);
  }
  const std::vector<Carveout> chosen = smallest_middle_largest(carveouts);
  std::vector<SetFindings> structures;
  for (const Carveout& part : chosen) {
    structures.push_back(find_structure(part, geometry.line_bytes, largest));
  }
  report_structures(cache.run, chosen, structures);
}

/// The cache that serves loads of `path` before the L2: its hits are faster than loads past the L1.
/// nullopt if there is none; then all metrics of `name` are reported.
std::optional<CacheUnderTest> find_first_cache(JobRun& run, LoadPath path,
                                               const std::string& name) {
  const ChaseSetup passing = set_up_chase(run, LoadPath::past_l1, RecordSpace::with_largest_l1);
  const std::vector<double> l2_latencies =
      measure_resident_latencies(run, passing, name + " passed by");
  CacheUnderTest cache{
      .run = run, .name = name, .chase = set_up_chase(run, path, RecordSpace::with_largest_l1)};
  std::vector<double> hits;
  const auto measure = [&] { hits = measure_resident_latencies(run, cache.chase, name + " hits"); };
  if (path == LoadPath::all_levels) {
    measure();  // every device has plain loads
  } else if (const auto refusal = refusal_of(measure)) {
    run.report_rest("", Status::not_present, *refusal);
    return std::nullopt;
  }
  cache.limit_bytes = largest_l1_bytes;
  cache.seed = derive_seed(run.seed(), name);
  const auto threshold_cycles = separate_hits(hits, l2_latencies, least_first_cache_gap_cycles);
  if (!threshold_cycles) {
    run.report_rest(
        "", Status::not_present,
        fmt::format(
            "{} loads take {:.0f} cycles at best, loads past the L1 {:.0f}: no cache serves them",
            to_text(path), median(hits), median(l2_latencies)));
    return std::nullopt;
  }
  cache.threshold_cycles = *threshold_cycles;
  return cache;
}

std::string explain_carveout(const ChaseSetup& chase) {
  if (!chase.shared_carveout_bytes) return {};
  return fmt::format(
      "measured with {} of shared memory, the least that holds the record of the chase",
      format_bytes(*chase.shared_carveout_bytes));
}

Replicates measure_hits(const CacheUnderTest& cache) {
  const std::string label = cache.name + " hits";
  return measure_replicates(cache.run, label, [&](const Draw& draw) {
    return measure_resident_latencies(cache.run, at_draw(cache.chase, draw), label);
  });
}

/// Loads that miss this cache and hit the next level: a span of four times its size.
Replicates measure_misses(const CacheUnderTest& cache, std::uint64_t size_bytes,
                          std::uint64_t line_bytes) {
  constexpr std::uint64_t recorded = 2048;
  const std::string label = cache.name + " misses";
  return measure_replicates(cache.run, label, [&](const Draw& draw) {
    ChasePlan plan = overflowing_plan(cache.chase, 4 * size_bytes, line_bytes, draw.seed, recorded);
    plan.offsets = page_by_page(std::move(plan.offsets));  // few loads wait for a translation
    std::vector<double> misses =
        measure_chase(cache.run, at_draw(cache.chase, draw), label, plan).cycles;
    std::erase_if(misses, [&](double cycles) { return cycles <= cache.threshold_cycles; });
    return misses;
  });
}

void report_first_latencies(const CacheUnderTest& cache, std::uint64_t size_bytes,
                            std::uint64_t line_bytes) {
  const Replicates hits = measure_hits(cache);
  const Replicates misses = measure_misses(cache, size_bytes, line_bytes);
  const std::string of_misses = cache.name + ".miss_latency_cycles";
  report_latency(cache.run, cache.name + ".hit_latency_cycles", hits);
  if (!misses.samples.empty()) return report_latency(cache.run, of_misses, misses);
  cache.run.report(not_resolvable(of_misses, "no load misses, even over four times its size"));
}

/// Searches for the sets before the size is reported, as they give the size if plain footprints
/// fill them unevenly. The quick suite leaves them out.
/// @param geometry if it is known
void characterize(CacheUnderTest cache, std::optional<CacheGeometry> geometry = {}) {
  JobRun& run = cache.run;
  if (!geometry) {
    std::string reason;
    geometry = measure_geometry(cache, reason);
    if (!geometry) {
      report_latency(run, cache.name + ".hit_latency_cycles", measure_hits(cache));
      return run.leave_open("", reason);
    }
    geometry = measure_size(cache, *geometry);
  }
  std::optional<SetFindings> sets;
  std::optional<CacheProbe> probe;
  if (run.level() != SuiteLevel::quick) {
    leave_odd_sms(cache, *geometry);
    probe.emplace(cache, geometry->size_bytes(), geometry->line_bytes);
    CacheStructure structure = characterize_sets(*probe, *geometry);
    geometry = structure.geometry;
    sets = std::move(structure.sets);
    report_every_sm(cache, *probe, *sets);
  }
  report_geometry(cache, *geometry, {.size = explain_carveout(cache.chase)});
  report_first_latencies(cache, geometry->size_bytes(), geometry->line_bytes);
  report_write_policy(cache, geometry->line_bytes);
  report_prefetch(cache, geometry->fetch.bytes);
  if (!sets) return run.skip_rest("");
  if (cache.name == "cache.l1") report_carveouts(cache, *geometry, *probe, *sets);
  run.leave_open("", sets->reason);
}

}  // namespace

void run_cache_l1(JobRun& run) {
  if (const auto cache = find_first_cache(run, LoadPath::all_levels, "cache.l1"))
    characterize(*cache);
}

void run_cache_readonly(JobRun& run) {
  const auto cache = find_first_cache(run, LoadPath::read_only, "cache.readonly");
  if (!cache) return;
  const auto known = try_known_array(*cache, "cache.l1");
  if (!known) return characterize(*cache);
  if (!known->is_same()) return characterize(*cache, geometry_of(*cache, *known));
  report_as_known(*cache, *known);
  report_first_latencies(*cache, known->size_bytes, known->line_bytes);
}

}  // namespace sonde
