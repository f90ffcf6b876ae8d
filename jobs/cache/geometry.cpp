// The steps towards a cache's size and line. Numbers of passes and fractions are chosen for noise
// of about one cycle and outliers in one access of ten thousand, and hold for noisier devices.
#include "jobs/cache/geometry.hpp"

#include "base/units.hpp"
#include "jobs/cache/line_by_conflicts.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cmath>

namespace sonde {
namespace {

// Enough to see one miss in 500, and no more is kept of chases that only ask roughly.
constexpr std::uint64_t coarse_record = 8192;
// Fewer samples than this do not tell a share of misses of 1/500 from outliers.
constexpr std::uint64_t coarse_samples = 2048;
constexpr double coarse_miss_fraction = 0.002;
// Up to here a second warm-up pass costs nothing to speak of.
constexpr std::uint64_t cheap_positions = 8192;
// Up to here footprints are asked for line by line; beyond, one chase back has to tell.
constexpr std::uint64_t asked_positions = 65536;
// No GPU is known with longer L1 or L2 lines (Wong 2010: 256 B in texture and constant caches).
constexpr std::uint64_t longest_line_bytes = 1024;
constexpr std::uint64_t common_line_bytes = 128;
// A span of 1.4 times the size: one line for each block thrashes, half as many leave room in every
// set even if they fall unevenly.
constexpr double sparse_span = 1.4;
constexpr double one_line_miss_fraction = 0.25;
// Below this contrast, or in so small a cache, chases over parts of lines prove little.
constexpr double clear_contrast = 0.5;
constexpr std::uint64_t few_lines = 64;
// In six draws over so few blocks the share of misses varies by a quarter of that limit.
constexpr std::uint64_t few_blocks = 128;
// Of a step there are outliers alone on the wrong side, one in ten thousand or a few; hashed or
// drawing caches have whole per cents.
constexpr double step_agreement = 0.998;

std::uint64_t round_down(std::uint64_t bytes, std::uint64_t step_bytes) {
  return std::max(step_bytes, bytes / step_bytes * step_bytes);
}

std::uint64_t scale(std::uint64_t bytes, double factor, std::uint64_t step_bytes) {
  return round_down(static_cast<std::uint64_t>(static_cast<double>(bytes) * factor), step_bytes);
}

/// No offset lies beyond.
std::uint64_t end_of_space(const CacheUnderTest& cache) {
  return cache.space_bytes > 0 ? cache.space_bytes : std::numeric_limits<std::uint64_t>::max();
}

/// A footprint is touched once in every line of the cache, unless inner caches could then hold too
/// much of it: more of their lines than it would touch.
std::uint64_t touch_step(const CacheUnderTest& cache, std::uint64_t span_bytes,
                         std::uint64_t line_bytes) {
  if (!cache.inner) return line_bytes;
  const std::uint64_t inner_lines = cache.inner->size_bytes / cache.inner->line_bytes;
  return span_bytes / line_bytes >= 2 * inner_lines ? line_bytes
                                                    : std::min(line_bytes, cache.inner->line_bytes);
}

ChasePlan plan_fit(const CacheUnderTest& cache, std::uint64_t span_bytes,
                   std::uint64_t step_bytes) {
  ChasePlan plan;
  plan.offsets = shuffled_order(span_bytes, step_bytes, cache.seed);
  plan.warmup_passes = plan.offsets.size() <= cheap_positions ? 2 : 1;
  return plan;
}

/// Share of misses among the positions that one launch can record.
double miss_fraction(JobRun& run, const CacheUnderTest& cache, const std::string& label,
                     ChasePlan plan) {
  const std::uint64_t length = plan.offsets.size();
  plan.recorded = std::min({length, cache.setup.recordable_accesses, coarse_record});
  plan.passes = (coarse_samples + plan.recorded - 1) / plan.recorded;
  return fraction_above(measure_chase(run, cache.setup, label, plan), cache.threshold_cycles);
}

/// Outliers are one access in ten thousand or two; five deviations more are misses.
bool is_more_than_outliers(std::size_t slow, std::size_t accesses) {
  const double outliers = 2e-4 * static_cast<double>(accesses);
  return static_cast<double>(slow) > outliers + 5 * std::sqrt(outliers) + 3;
}

Fit ask_roughly(JobRun& run, const CacheUnderTest& cache, std::uint64_t span_bytes,
                std::uint64_t step_bytes) {
  const std::string label = fmt::format("{} coarse {} step {}", cache.name, span_bytes, step_bytes);
  const double missing = miss_fraction(run, cache, label, plan_fit(cache, span_bytes, step_bytes));
  return missing > coarse_miss_fraction ? Fit::overflows : Fit::fits;
}

}  // namespace

std::vector<double> measure_resident_latencies(JobRun& run, const ChaseSetup& setup,
                                               const std::string& label) {
  ChasePlan plan;
  plan.offsets = ascending_order(4 * common_line_bytes, common_line_bytes);
  plan.warmup_passes = 4;
  plan.passes = 64;
  return measure_chase(run, setup, label, plan).cycles;
}

std::vector<double> measure_memory_latencies(JobRun& run, const ChaseSetup& setup,
                                             const std::string& label) {
  constexpr std::uint64_t regions = 6;
  constexpr std::uint64_t region_distance_bytes = 16_MiB;
  constexpr std::uint64_t lines = 64;
  constexpr std::uint64_t line_distance_bytes = 4608;  // other page of DRAM, other slice, no stream
  ChasePlan plan;
  for (std::uint64_t region = 0; region < regions; ++region) {
    for (std::uint64_t line = lines; line-- > 0;) {
      plan.offsets.push_back(region * region_distance_bytes + line * line_distance_bytes);
    }
  }
  plan.warmup_passes = 0;
  plan.passes = 3;
  plan.preparation = Preparation::flushed;
  std::vector<double> latencies = position_medians(measure_chase(run, setup, label, plan));
  for (std::uint64_t region = regions; region-- > 0;) {
    latencies.erase(latencies.begin() + static_cast<std::ptrdiff_t>(region * lines));
  }
  return latencies;
}

Fit ask_fit(JobRun& run, const CacheUnderTest& cache, std::uint64_t span_bytes,
            std::uint64_t step_bytes) {
  constexpr std::uint64_t most_passes = 6;
  const std::string label = fmt::format("{} size {} step {}", cache.name, span_bytes, step_bytes);
  ChasePlan plan = plan_fit(cache, span_bytes, step_bytes);
  const std::uint64_t length = plan.offsets.size();
  plan.passes = std::clamp<std::uint64_t>(cache.setup.recordable_accesses / length, 1, most_passes);
  const auto missing = [&](const ChaseLatencies& seen, std::size_t least_passes) {
    return count_set(
        positions_between(seen, cache.threshold_cycles, cache.ceiling_cycles, least_passes));
  };
  ChaseLatencies chase{length, {}};
  while (chase.passes() < most_passes) {
    const ChaseLatencies more = measure_chase(run, cache.setup, label, plan);
    chase.cycles.insert(chase.cycles.end(), more.cycles.begin(), more.cycles.end());
    const std::size_t slow = missing(more, 1);
    if (slow == 0) return Fit::fits;
    if (missing(chase, 2) > 0 || is_more_than_outliers(slow, more.cycles.size())) {
      return Fit::overflows;
    }
  }
  return Fit::fits;
}

CountedFit::CountedFit(JobRun& run, const CacheUnderTest& cache, std::uint64_t fitting_bytes,
                       std::uint64_t step_bytes)
    : run_(run), cache_(cache), step_bytes_(step_bytes) {
  const auto slow = static_cast<double>(count(fitting_bytes, most_passes));
  outliers_per_byte_ = slow / static_cast<double>(most_passes * fitting_bytes);
}

Fit CountedFit::ask(std::uint64_t span_bytes) const {
  // Under LRU one line too many misses w + 1 times a pass in a set of w ways: seen at once.
  constexpr std::uint64_t quick_passes = 2;
  constexpr double plain_misses = 16;
  const double outliers = outliers_per_byte_ * static_cast<double>(span_bytes);
  const auto first = static_cast<double>(count(span_bytes, quick_passes));
  if (first > (2 * outliers + plain_misses) * quick_passes) return Fit::overflows;
  // Where victims are drawn it misses twice a pass on average, and never less than once.
  constexpr double least_misses_per_pass = 1;
  const auto all = static_cast<double>(count(span_bytes, most_passes));
  return all > (outliers + least_misses_per_pass) * most_passes ? Fit::overflows : Fit::fits;
}

std::uint64_t CountedFit::count(std::uint64_t span_bytes, std::uint64_t passes) const {
  ChasePlan plan = plan_fit(cache_, span_bytes, step_bytes_);
  plan.passes = passes;
  const std::string label = fmt::format("{} count {}", cache_.name, span_bytes);
  return count_between(run_, cache_.setup, label, plan, cache_.threshold_cycles,
                       cache_.ceiling_cycles);
}

namespace {

std::optional<BlockSize> measure_fetch_by(JobRun& run, const CacheUnderTest& cache,
                                          const ChasePlan& plan) {
  const ChaseLatencies chase = measure_chase(run, cache.setup, cache.name + " fetch", plan);
  return miss_distance(positions_above(chase, cache.threshold_cycles, 2),
                       access_bytes(cache.setup.path));
}

}  // namespace

std::optional<BlockSize> measure_fetch(JobRun& run, const CacheUnderTest& cache) {
  constexpr std::uint64_t visited_bytes = 4 * longest_line_bytes;
  const std::uint64_t unit_bytes = access_bytes(cache.setup.path);
  const Offsets accesses = descending_order(visited_bytes, unit_bytes);
  if (cache.space_bytes > visited_bytes) {
    constexpr std::uint64_t shortest_line_bytes = 64;  // of constants and code
    ChasePlan pushed_out;
    const std::uint64_t step_bytes = std::max(shortest_line_bytes, unit_bytes);
    for (std::uint64_t offset = visited_bytes; offset < cache.space_bytes; offset += step_bytes) {
      pushed_out.offsets.push_back(offset);
    }
    pushed_out.skipped = pushed_out.offsets.size();
    pushed_out.offsets.insert(pushed_out.offsets.end(), accesses.begin(), accesses.end());
    pushed_out.passes = 3;
    if (const auto fetch = measure_fetch_by(run, cache, pushed_out)) return fetch;
  }
  ChasePlan flushed;
  flushed.offsets = accesses;
  flushed.warmup_passes = 0;
  flushed.passes = 3;
  flushed.preparation = Preparation::flushed;
  return measure_fetch_by(run, cache, flushed);
}

CapacityBound measure_coarse_bound(JobRun& run, const CacheUnderTest& cache,
                                   std::uint64_t fetch_bytes) {
  const std::uint64_t sparse_step = std::max(fetch_bytes, common_line_bytes);
  CapacityLimits limits{sparse_step, 64 * sparse_step, cache.limit_bytes, 1.0 / 32};
  const auto ask_with = [&](std::uint64_t step_bytes) {
    return [&, step_bytes](std::uint64_t span_bytes) {
      return ask_roughly(run, cache, span_bytes, step_bytes);
    };
  };
  const CapacityBound bound = find_capacity_bound(limits, ask_with(sparse_step));
  if (sparse_step == fetch_bytes || bound.fitting_bytes == 0 || bound.overflowing_bytes == 0) {
    return bound;
  }
  const std::uint64_t check_bytes = scale(bound.fitting_bytes, 0.75, sparse_step);
  if (ask_roughly(run, cache, check_bytes, fetch_bytes) == Fit::fits) return bound;
  limits.limit_bytes = bound.overflowing_bytes;
  return find_capacity_bound(limits, ask_with(fetch_bytes));
}

LineSize measure_line(JobRun& run, const CacheUnderTest& cache, std::uint64_t coarse_size_bytes,
                      std::uint64_t fetch_bytes) {
  LineSize line{fetch_bytes, {}};
  for (std::uint64_t block = 2 * fetch_bytes; block <= longest_line_bytes; block *= 2) {
    const std::uint64_t span_bytes =
        std::min(scale(coarse_size_bytes, sparse_span, block), end_of_space(cache));
    // Small caches have few sets: one draw may fall badly.
    const std::uint64_t blocks = span_bytes / block;
    const std::uint64_t draws = blocks < few_blocks ? 24 : blocks < coarse_samples ? 6 : 1;
    double sum = 0;
    for (std::uint64_t draw = 0; draw < draws; ++draw) {
      ChasePlan plan;
      plan.offsets = sparse_order(span_bytes, block, fetch_bytes, cache.seed + draw);
      plan.warmup_passes = 2;
      sum += miss_fraction(run, cache, fmt::format("{} line {}", cache.name, block), plan);
    }
    line.miss_fractions.push_back(sum / static_cast<double>(draws));
    if (line.miss_fractions.back() < one_line_miss_fraction) break;
    line.bytes = block;
  }
  return line;
}

CapacityBound measure_exact_bound(JobRun& run, const CacheUnderTest& cache,
                                  const CapacityBound& coarse, std::uint64_t line_bytes) {
  std::optional<CountedFit> counted;
  if (coarse.overflowing_bytes / line_bytes > cache.setup.recordable_accesses) {
    counted.emplace(run, cache, scale(coarse.fitting_bytes, 0.75, line_bytes), line_bytes);
  }
  const auto ask = [&](std::uint64_t span_bytes) {
    return counted ? counted->ask(span_bytes)
                   : ask_fit(run, cache, span_bytes, touch_step(cache, span_bytes, line_bytes));
  };
  CapacityBound bound{round_down(coarse.fitting_bytes, line_bytes),
                      round_down(coarse.overflowing_bytes + line_bytes - 1, line_bytes)};
  std::uint64_t margin_bytes = round_down(coarse.fitting_bytes / 32, line_bytes);
  while (ask(bound.fitting_bytes) == Fit::overflows) {
    bound.overflowing_bytes = bound.fitting_bytes;
    if (bound.fitting_bytes <= margin_bytes + line_bytes) return {0, bound.overflowing_bytes};
    bound.fitting_bytes -= margin_bytes;
    margin_bytes *= 2;
  }
  return narrow_capacity_bound({line_bytes, 0, 0, 0}, bound, ask);
}

std::uint64_t measure_residents(JobRun& run, const CacheUnderTest& cache, std::uint64_t size_bytes,
                                std::uint64_t line_bytes) {
  const std::uint64_t fill_bytes =
      std::min(scale(size_bytes, 1.5, line_bytes), end_of_space(cache));
  const std::uint64_t back_bytes = std::min(scale(size_bytes, 1.25, line_bytes), fill_bytes);
  ChasePlan plan;
  // More densely than the lines the first access to each is the one that misses.
  const std::uint64_t step_bytes = touch_step(cache, fill_bytes, line_bytes);
  plan.offsets = fill_and_return(fill_bytes, back_bytes, step_bytes);
  plan.warmup_passes = 0;
  plan.skipped = fill_bytes / step_bytes;
  plan.passes = 3;
  const ChaseLatencies chase = measure_chase(run, cache.setup, cache.name + " residents", plan);
  const std::size_t missing = count_set(positions_above(chase, cache.threshold_cycles, 2));
  return back_bytes - missing * line_bytes;
}

HitBoundary measure_return_boundary(JobRun& run, const CacheUnderTest& cache,
                                    const CapacityBound& coarse, std::uint64_t line_bytes,
                                    double density, double seen_before) {
  // A sixteenth to both sides of a bracket that is a thirty-second wide.
  const std::uint64_t from_bytes = scale(coarse.fitting_bytes, 1 - seen_before, line_bytes);
  const std::uint64_t to_bytes = scale(coarse.overflowing_bytes, 17.0 / 16, line_bytes);
  // Whole ways, which are powers of two: then every set is filled as often as every other.
  const std::uint64_t ways_bytes = std::bit_floor(coarse.overflowing_bytes) / 4;
  const std::uint64_t fill_bytes =
      (coarse.overflowing_bytes / 2 * 3 + ways_bytes - 1) / ways_bytes * ways_bytes;
  ChasePlan plan;
  plan.offsets = fill_and_return(fill_bytes, to_bytes, line_bytes);
  plan.warmup_passes = 0;
  plan.skipped = (fill_bytes + from_bytes) / line_bytes;
  const ChaseLatencies chase = measure_chase(run, cache.setup, cache.name + " way back", plan);
  std::vector<bool> hits = positions_above(chase, cache.threshold_cycles, 1);
  hits.flip();
  HitBoundary boundary = find_hit_boundary(hits, density);
  boundary.position += from_bytes / line_bytes;
  return boundary;
}

// What a drawing replacement keeps settles slowly: on an H200 the share of near hits at 30 MB is
// 0.63 after one pass, 0.5 after three and after eight.
constexpr std::uint64_t settling_passes = 3;

CapacityBound measure_half_lost(JobRun& run, const CacheUnderTest& cache,
                                const CapacityBound& coarse, std::uint64_t line_bytes) {
  const auto ask = [&](std::uint64_t span_bytes) {
    const std::string label = fmt::format("{} knee {}", cache.name, span_bytes);
    ChasePlan plan = plan_fit(cache, span_bytes, line_bytes);
    plan.warmup_passes = settling_passes;
    return miss_fraction(run, cache, label, plan) > 0.5 ? Fit::overflows : Fit::fits;
  };
  return find_capacity_bound({line_bytes, coarse.overflowing_bytes, cache.limit_bytes, 1.0 / 64},
                             ask);
}

bool is_large(const CapacityBound& coarse, std::uint64_t line_bytes) {
  return coarse.fitting_bytes / line_bytes > asked_positions;
}

namespace {

/// Line and contrast of an outline whose bound and fetch are known.
void settle_line(JobRun& run, const CacheUnderTest& cache, CacheGeometry& shape) {
  const LineSize line = measure_line(run, cache, shape.bound.fitting_bytes, shape.fetch.bytes);
  shape.line_bytes = line.bytes;
  shape.line_contrast = 1;
  for (double fraction : line.miss_fractions) {
    const double contrast = std::abs(fraction - one_line_miss_fraction) / one_line_miss_fraction;
    shape.line_contrast = std::min(shape.line_contrast, contrast);
  }
  const bool is_clear = shape.line_contrast >= clear_contrast &&
                        shape.bound.fitting_bytes / shape.line_bytes >= few_lines;
  if (is_clear || cache.inner || cache.space_bytes > 0 || is_large(shape.bound, shape.line_bytes)) {
    return;
  }
  const auto by_conflicts = measure_line_by_conflicts(run, cache, shape.bound.fitting_bytes,
                                                      shape.fetch.bytes, longest_line_bytes);
  if (!by_conflicts) return;
  shape.line_bytes = by_conflicts->bytes;
  shape.line_contrast = 2 * by_conflicts->agreement - 1;
}

}  // namespace

std::optional<CacheGeometry> measure_geometry(JobRun& run, const CacheUnderTest& cache,
                                              std::string& reason) {
  const auto fetch = measure_fetch(run, cache);
  if (!fetch) {
    reason = "a first visit missed fewer than twice";
    return std::nullopt;
  }
  const CapacityBound coarse = measure_coarse_bound(run, cache, fetch->bytes);
  if (coarse.fitting_bytes == 0 || coarse.overflowing_bytes == 0) {
    const std::uint64_t met_bytes = std::max(coarse.fitting_bytes, coarse.overflowing_bytes);
    reason = fmt::format("every footprint asked for {}, {} at last",
                         coarse.fitting_bytes == 0 ? "overflows" : "fits",
                         format_bytes(static_cast<double>(met_bytes)));
    return std::nullopt;
  }
  CacheGeometry shape{.bound = coarse, .fetch = *fetch};
  settle_line(run, cache, shape);
  return shape;
}

namespace {

/// Whether chases in other orders stay and overflow where the first one did. Under replacement that
/// is not LRU, or a hash that fills sets unevenly, they do not.
bool is_edge_for_all_orders(JobRun& run, const CacheUnderTest& cache, const CapacityBound& bound,
                            std::uint64_t line_bytes) {
  if (bound.overflowing_bytes / line_bytes > cache.setup.recordable_accesses) return true;
  constexpr std::uint64_t further_orders = 10;
  for (std::uint64_t order = 1; order <= further_orders; ++order) {
    CacheUnderTest other = cache;
    other.seed = cache.seed + order;
    const std::uint64_t step_bytes = touch_step(cache, bound.fitting_bytes, line_bytes);
    if (ask_fit(run, other, bound.fitting_bytes, step_bytes) == Fit::overflows ||
        ask_fit(run, other, bound.overflowing_bytes, step_bytes) == Fit::fits) {
      return false;
    }
  }
  return true;
}

}  // namespace

void measure_size(JobRun& run, const CacheUnderTest& cache, CacheGeometry& shape) {
  const std::uint64_t line_bytes = shape.line_bytes;
  if (!is_large(shape.bound, line_bytes)) {
    shape.bound = measure_exact_bound(run, cache, shape.bound, line_bytes);
    shape.soft = !is_edge_for_all_orders(run, cache, shape.bound, line_bytes);
    if (shape.soft) return;
    shape.residents_bytes = measure_residents(run, cache, shape.bound.fitting_bytes, line_bytes);
    return;
  }
  const HitBoundary boundary = measure_return_boundary(run, cache, shape.bound, line_bytes, 1);
  if (boundary.agreement > step_agreement) {
    shape.bound.fitting_bytes = boundary.position * line_bytes;
    shape.bound.overflowing_bytes = shape.bound.fitting_bytes + line_bytes;
    return;
  }
  shape.soft = true;
  shape.half_lost_bytes = measure_half_lost(run, cache, shape.bound, line_bytes).fitting_bytes;
}

}  // namespace sonde
