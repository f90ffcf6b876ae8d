// Job `cache.l2`: the cache in front of the memory, by loads that pass the L1 by (cg). Where it has
// two partitions, one SM fills the near one first: its bound is the segment, that of both the size.
// Method: docs/methods/cache.md.
#include "analysis/statistics.hpp"
#include "analysis/structure/latency/hit_classes.hpp"
#include "analysis/structure/latency/latency_gaps.hpp"
#include "analysis/structure/latency/memory_replicates.hpp"
#include "base/gpu_facts.hpp"
#include "base/random.hpp"
#include "base/units.hpp"
#include "jobs/cache/cache_probe.hpp"
#include "jobs/cache/capacity.hpp"
#include "jobs/cache/doubtful_line.hpp"
#include "jobs/cache/geometry.hpp"
#include "jobs/cache/l2_partitions.hpp"
#include "jobs/cache/l2_size.hpp"
#include "jobs/cache/report.hpp"
#include "jobs/cache/writes_and_prefetch.hpp"
#include "jobs/chase/known_latencies.hpp"
#include "jobs/run/clock_window.hpp"
#include "jobs/sets/search.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cmath>

namespace sonde {
namespace {

/// Lines here and there in a span that every L2 holds: of a large one so wide that lines of all
/// slices, near and far, are among them.
Offsets choose_hit_lines(const JobRun& run, std::uint64_t seed) {
  constexpr std::uint64_t lines = 512;
  constexpr std::uint64_t narrow_bytes = lines * common_line_bytes;
  const std::uint64_t span_bytes =
      std::clamp(std::bit_floor(run.info().l2_bytes / 16), narrow_bytes, large_page_bytes);
  Offsets offsets = shuffled_order(span_bytes, span_bytes / lines, seed);
  Random random(derive_seed(seed, "hit lines"));
  const std::uint64_t lines_of_step = span_bytes / lines / common_line_bytes;
  for (std::uint64_t& offset : offsets) offset += random.below(lines_of_step) * common_line_bytes;
  return offsets;
}

std::vector<double> measure_hits(JobRun& run, const ChaseSetup& setup, std::uint64_t seed,
                                 std::uint64_t passes) {
  const ChasePlan plan{
      .offsets = choose_hit_lines(run, seed), .warmup_passes = 2, .passes = passes};
  return position_medians(measure_chase(run, setup, "cache.l2 hits", plan));
}

void report_hits(JobRun& run, const ChaseSetup& setup) {
  report_hit_latency(run, "cache.l2", measure_replicates(run, "hits", [&](const Draw& draw) {
                       return measure_hits(run, at_draw(setup, draw), draw.seed, 2);
                     }));
}

void report_misses(JobRun& run, const ChaseSetup& setup) {
  report_miss_latency(run, "cache.l2", measure_replicates(run, "misses", [&](const Draw& draw) {
                        return measure_memory_latencies(run, at_draw(setup, draw),
                                                        "cache.l2 memory", draw.seed, 1);
                      }));
}

/// Sets, and what they tell of the size; gives back why they were not looked for, if they were not.
/// @param cache its near partition, where it has two
std::string report_structure(const CacheUnderTest& cache, CacheGeometry& geometry) {
  if (!geometry.no_size.empty()) return geometry.no_size;
  if (const std::string too_many = why_too_many_lines(geometry); !too_many.empty()) {
    return too_many + " (cache.l2.slice_ways and slice_sets tell of one slice)";
  }
  settle_doubtful_line(cache, geometry);
  CacheProbe probe(cache, geometry.part_bytes(), geometry.line_bytes, geometry.line_confidence());
  const SetFindings sets = characterize_sets_of_lines(cache, probe, geometry);
  geometry.filled_bytes = sets.filled_bytes();
  return sets.reason;
}

/// @param cache with a threshold between hits and the memory
/// @param hits latencies of loads that it serves  @param memory of loads that the memory does
void characterize_l2(CacheUnderTest cache, const std::vector<double>& hits,
                     const std::vector<double>& memory) {
  JobRun& run = cache.run;
  const LoadedElsewhere parts = look_for_parts(cache);
  report_hits(run, cache.chase);
  std::string reason;
  auto geometry = measure_geometry(cache, reason);
  report_misses(run, cache.chase);
  if (!geometry) {
    report_parts_alone(cache, parts);
    report_l2_partitions(run);
    return run.leave_open("", reason);
  }
  const std::string remark = characterize_l2_size(cache, parts, hits, memory, *geometry);
  const bool quick = run.level() == SuiteLevel::quick;
  std::string no_sets;
  if (!quick) no_sets = report_structure(cache, *geometry);
  report_geometry(cache, *geometry, {.size = remark, .inner_cache = "cache.l1"});
  report_write_policy(cache, geometry->line_bytes);
  report_prefetch(cache, geometry->fetch.bytes);
  if (quick) return run.skip_rest("");
  report_l2_partitions(run);
  run.leave_open("", no_sets);
}

}  // namespace

void run_cache_l2(JobRun& run) {
  CacheUnderTest cache{.run = run,
                       .name = "cache.l2",
                       .chase = set_up_chase(run, LoadPath::past_l1, RecordSpace::longest)};
  const std::vector<double> hits = measure_hits(run, cache.chase, run.seed(), 8);
  const std::vector<double> memory =
      measure_memory_latencies(run, cache.chase, "cache.l2 memory", run.seed());
  const auto classes = separate_hits(hits, memory, least_memory_gap_cycles);
  if (!classes) {
    return run.report_rest(
        "", Status::not_present,
        fmt::format("a second load of a line takes {:.0f} cycles, a first one {:.0f}", median(hits),
                    median(memory)));
  }
  cache.threshold_cycles = classes->threshold_cycles;
  cache.limit_bytes = std::min(largest_l2_bytes, run.info().memory_bytes / 4);
  cache.seed = derive_seed(run.seed(), "cache.l2");
  characterize_l2(cache, hits, memory);
}

}  // namespace sonde
