// Decides whether footprints fit, and finds bounds by bisection, for jobs/cache/geometry. Numbers
// of passes and fractions suit noise of about one cycle and one outlier in ten thousand accesses; a
// larger share of outliers is allowed for.
#include "jobs/cache/capacity.hpp"

#include "base/gpu_facts.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace sonde {
namespace {

// Enough to see one miss in 500; coarse chases record no more.
constexpr std::uint64_t coarse_record = 8192;
constexpr double coarse_miss_fraction = 0.002;
// About three outliers at the usual share, in a few milliseconds.
constexpr std::uint64_t outlier_samples = 16384;
// Up to this length further warm-up passes cost almost no time.
constexpr std::uint64_t cheap_positions = 8192;

std::uint64_t round_down(std::uint64_t bytes, std::uint64_t step_bytes) {
  return std::max(step_bytes, bytes / step_bytes * step_bytes);
}

/// @param order selects the random order
ChasePlan plan_fit(const CacheUnderTest& cache, std::uint64_t span_bytes, std::uint64_t step_bytes,
                   std::uint64_t order) {
  ChasePlan plan;
  plan.offsets = shuffled_order(span_bytes, step_bytes, cache.seed + order);
  plan.warmup_passes = plan.offsets.size() <= cheap_positions ? cache.settling_passes : 1;
  return plan;
}

/// Records enough positions and passes to measure a share of misses.
void sample_roughly(const CacheUnderTest& cache, ChasePlan& plan) {
  const std::uint64_t length = plan.offsets.size();
  plan.recorded = std::min({length, cache.chase.recordable_accesses, coarse_record});
  plan.passes = (coarse_samples + plan.recorded - 1) / plan.recorded;
}

// In standard deviations of a Poisson count; each cache needs some hundred comparisons.
constexpr double sure_deviations = 5;

/// Whether there are more slow accesses than outliers explain.
bool is_more_than_outliers(const CacheUnderTest& cache, std::size_t slow, std::size_t accesses) {
  const double outliers = cache.outlier_share * static_cast<double>(accesses);
  return static_cast<double>(slow) > outliers + sure_deviations * std::sqrt(outliers) + 3;
}

/// The same for positions that were slow in two or more passes, which outliers rarely hit.
bool are_more_than_outliers_twice(const CacheUnderTest& cache, std::size_t slow_twice,
                                  const ChaseLatencies& chase) {
  const auto passes = static_cast<double>(chase.passes());
  const double twice = static_cast<double>(chase.positions) * passes * (passes - 1) / 2 *
                       cache.outlier_share * cache.outlier_share;
  return static_cast<double>(slow_twice) > twice + sure_deviations * std::sqrt(twice);
}

Fit ask_roughly(const CacheUnderTest& cache, std::uint64_t span_bytes, std::uint64_t step_bytes) {
  ChasePlan plan = plan_fit(cache, span_bytes, step_bytes, 0);
  sample_roughly(cache, plan);
  const ChaseLatencies chase =
      measure_chase(cache, fmt::format("coarse {} step {}", span_bytes, step_bytes), plan);
  const double most_outliers =
      cache.outlier_share +
      sure_deviations * std::sqrt(cache.outlier_share / static_cast<double>(chase.cycles.size()));
  return fraction_above(chase, cache.threshold_cycles) >
                 std::max(coarse_miss_fraction, most_outliers)
             ? Fit::overflows
             : Fit::fits;
}

/// Whether a footprint, accessed every `step_bytes`, stays in the cache: no position misses
/// repeatedly. A single pass without a miss proves it.
/// @pre one launch can record the footprint
Fit ask_fit(const CacheUnderTest& cache, std::uint64_t span_bytes, std::uint64_t step_bytes,
            std::uint64_t order) {
  constexpr std::uint64_t most_passes = 6;
  ChasePlan plan = plan_fit(cache, span_bytes, step_bytes, order);
  const std::uint64_t length = plan.offsets.size();
  plan.passes = std::clamp<std::uint64_t>(cache.chase.recordable_accesses / length, 1, most_passes);
  const auto missing = [&](const ChaseLatencies& seen, std::size_t least_passes) {
    return count_set(
        positions_between(seen, cache.threshold_cycles, cache.ceiling_cycles, least_passes));
  };
  ChaseLatencies chase{length, {}};
  while (chase.passes() < most_passes) {
    const ChaseLatencies more =
        measure_chase(cache, fmt::format("size {} step {}", span_bytes, step_bytes), plan);
    chase.cycles.insert(chase.cycles.end(), more.cycles.begin(), more.cycles.end());
    const std::size_t slow = missing(more, 1);
    if (slow == 0) return Fit::fits;
    if (are_more_than_outliers_twice(cache, missing(chase, 2), chase) ||
        is_more_than_outliers(cache, slow, more.cycles.size())) {
      return Fit::overflows;
    }
  }
  return Fit::fits;
}

/// The same for footprints that no launch can record: the device counts the misses, which are
/// compared with the outliers of a footprint that certainly fits.
class CountedFit {
 public:
  CountedFit(const CacheUnderTest& cache, std::uint64_t fitting_bytes, std::uint64_t step_bytes)
      : cache_(cache), step_bytes_(step_bytes) {
    const auto slow = static_cast<double>(count(fitting_bytes, 0, most_passes));
    outliers_per_byte_ = slow / static_cast<double>(most_passes * fitting_bytes);
  }

  Fit ask(std::uint64_t span_bytes, std::uint64_t order) const {
    // Under LRU one line too many costs w + 1 misses per pass in a set of w ways: seen at once.
    constexpr std::uint64_t quick_passes = 2;
    constexpr double plain_misses = 16;
    const double outliers = outliers_per_byte_ * static_cast<double>(span_bytes);
    const auto first = static_cast<double>(count(span_bytes, order, quick_passes));
    if (first > (2 * outliers + plain_misses) * quick_passes) return Fit::overflows;
    // Under random replacement it costs two misses per pass on average, and never less than one.
    constexpr double least_misses_per_pass = 1;
    const auto all = static_cast<double>(count(span_bytes, order, most_passes));
    return all > (outliers + least_misses_per_pass) * most_passes ? Fit::overflows : Fit::fits;
  }

 private:
  static constexpr std::uint64_t most_passes = 16;

  std::uint64_t count(std::uint64_t span_bytes, std::uint64_t order, std::uint64_t passes) const {
    ChasePlan plan = plan_fit(cache_, span_bytes, step_bytes_, order);
    plan.passes = passes;
    return count_between(cache_.run, cache_.chase,
                         fmt::format("{} count {}", cache_.name, span_bytes), plan,
                         cache_.threshold_cycles, cache_.ceiling_cycles);
  }

  const CacheUnderTest& cache_;
  std::uint64_t step_bytes_;
  double outliers_per_byte_ = 0;
};

/// Answers whether footprints stay in a cache, in any number of orders.
class Footprints {
 public:
  /// @param fitting_bytes fits, roughly  @param most_bytes the largest footprint asked about
  Footprints(const CacheUnderTest& cache, std::uint64_t fitting_bytes, std::uint64_t most_bytes,
             std::uint64_t line_bytes)
      : cache_(cache), line_bytes_(line_bytes) {
    if (most_bytes / line_bytes > cache.chase.recordable_accesses)
      counted_.emplace(cache, scale_span(fitting_bytes, 0.75, line_bytes), line_bytes);
  }

  bool stays(std::uint64_t span_bytes, std::uint64_t order) const {
    const Fit fit =
        counted_ ? counted_->ask(span_bytes, order)
                 : ask_fit(cache_, span_bytes, touch_step(cache_, span_bytes, line_bytes_), order);
    return fit == Fit::fits;
  }

  /// Long footprints take 16 passes of tens of thousands of loads each; few can be tried.
  bool are_long() const { return counted_.has_value(); }

  /// Whether a footprint stays in two of three orders, as something else may evict a line now and
  /// then. Long footprints are chased in one order, as their misses are counted over many passes.
  bool stays_in_most(std::uint64_t span_bytes, std::uint64_t order) const {
    const bool first = stays(span_bytes, order);
    if (are_long()) return first;
    return first == stays(span_bytes, order + 1) ? first : stays(span_bytes, order + 2);
  }

 private:
  const CacheUnderTest& cache_;
  std::uint64_t line_bytes_;
  std::optional<CountedFit> counted_;
};

/// Predicts that the bound stays and that two more lines do not, each in ten tries of most of three
/// orders; thirty tries after a failure, until too many fail.
Predictions try_footprints(const Footprints& footprints, const CapacityBound& bound,
                           std::uint64_t line_bytes) {
  constexpr std::uint64_t usual_tries = 10;
  constexpr std::uint64_t most_tries = 30;
  Predictions tried;
  for (std::uint64_t i = 0; i < (tried.right == tried.asked ? usual_tries : most_tries); ++i) {
    tried.asked += 2;
    tried.right += footprints.stays_in_most(bound.fitting_bytes, 1 + 3 * i);
    tried.right += !footprints.stays_in_most(bound.overflowing_bytes + line_bytes, 1 + 3 * i);
    if (10 * (tried.asked - tried.right) > 2 * most_tries) break;  // one in ten
  }
  return tried;
}

/// The largest footprint that stays, starting at a coarse bound; fitting 0 if none stays.
CapacityBound bisect_bound(const Footprints& footprints, const CapacityBound& coarse,
                           std::uint64_t line_bytes) {
  const auto ask = [&](std::uint64_t span_bytes) {
    return footprints.stays_in_most(span_bytes, 0) ? Fit::fits : Fit::overflows;
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
  return narrow_capacity_bound({.step_bytes = line_bytes}, bound, ask);
}

}  // namespace

std::uint64_t touch_step(const CacheUnderTest& cache, std::uint64_t span_bytes,
                         std::uint64_t line_bytes) {
  if (!cache.inner) return line_bytes;
  const std::uint64_t inner_lines = cache.inner->size_bytes / cache.inner->line_bytes;
  return span_bytes / line_bytes >= 2 * inner_lines ? line_bytes
                                                    : std::min(line_bytes, cache.inner->line_bytes);
}

std::uint64_t scale_span(std::uint64_t span_bytes, double factor, std::uint64_t step_bytes) {
  return round_down(static_cast<std::uint64_t>(static_cast<double>(span_bytes) * factor),
                    step_bytes);
}

double measure_miss_fraction(const CacheUnderTest& cache, const std::string& label,
                             ChasePlan plan) {
  sample_roughly(cache, plan);
  return fraction_above(measure_chase(cache, label, plan), cache.threshold_cycles);
}

double measure_outlier_share(const CacheUnderTest& cache, std::uint64_t line_bytes) {
  const ChasePlan plan{.offsets = {0, line_bytes},
                       .warmup_passes = 3,
                       .passes = outlier_samples / 2,
                       .evidence = Evidence::of_a_search};
  const ChaseLatencies chase = measure_chase(cache, "outliers", plan);
  return static_cast<double>(
             count_set(positions_between({chase.cycles.size(), chase.cycles},
                                         cache.threshold_cycles, cache.ceiling_cycles, 1))) /
         static_cast<double>(chase.cycles.size());
}

double most_outlier_share(const CacheUnderTest& cache, std::uint64_t line_bytes) {
  constexpr double most_share = 0.01;  // then the two lines miss
  const double share = measure_outlier_share(cache, line_bytes);
  if (share > most_share) return usual_outlier_share;
  return std::max(usual_outlier_share, share + 2 * std::sqrt(share / outlier_samples));
}

CapacityBound measure_coarse_bound(const CacheUnderTest& cache, std::uint64_t fetch_bytes) {
  const std::uint64_t sparse_step = std::max(fetch_bytes, common_line_bytes);
  CapacityLimits limits{.step_bytes = sparse_step,
                        .start_bytes = 64 * sparse_step,
                        .limit_bytes = cache.limit_bytes,
                        .relative_precision = 1.0 / 32};
  const auto ask_with = [&](std::uint64_t step_bytes) {
    return [&cache, step_bytes](std::uint64_t span_bytes) {
      return ask_roughly(cache, span_bytes, step_bytes);
    };
  };
  const CapacityBound bound = find_capacity_bound(limits, ask_with(sparse_step));
  if (sparse_step == fetch_bytes || bound.fitting_bytes == 0) return bound;
  // With short lines and hashed sets, every fourth line of the largest footprint may still fit.
  if (bound.overflowing_bytes == 0) return find_capacity_bound(limits, ask_with(fetch_bytes));
  const std::uint64_t check_bytes = scale_span(bound.fitting_bytes, 0.75, sparse_step);
  if (ask_roughly(cache, check_bytes, fetch_bytes) == Fit::fits) return bound;
  limits.limit_bytes = bound.overflowing_bytes;
  const CapacityBound dense = find_capacity_bound(limits, ask_with(fetch_bytes));
  // If random replacement failed the check by chance, the first bound holds.
  return dense.overflowing_bytes == 0 ? bound : dense;
}

CapacityBound measure_coarse_bound_near(const CacheUnderTest& cache, const CapacityBound& seen,
                                        std::uint64_t step_bytes) {
  constexpr double most_growth = 1.25;  // beyond the bound seen
  return find_capacity_bound_near(
      {.step_bytes = step_bytes,
       .limit_bytes = scale_span(seen.overflowing_bytes, most_growth, step_bytes),
       .relative_precision = 1.0 / 16},
      seen, [&](std::uint64_t span_bytes) { return ask_roughly(cache, span_bytes, step_bytes); });
}

TriedBound find_tried_bound(const CacheUnderTest& cache, const CapacityBound& coarse,
                            std::uint64_t line_bytes) {
  constexpr std::uint64_t first_order = 100;  // beyond the orders of try_footprints
  constexpr std::uint64_t most_less_lines = 2;
  const Footprints footprints(cache, coarse.fitting_bytes, coarse.overflowing_bytes, line_bytes);
  const std::uint64_t orders = footprints.are_long() ? 3 : 20;
  const std::uint64_t most_lost = footprints.are_long() ? 0 : 2;
  const CapacityBound seen = bisect_bound(footprints, coarse, line_bytes);
  if (seen.fitting_bytes == 0) return {seen, {}};
  // One more line may stay in some orders: the result stays in nearly all.
  const auto stays_always = [&](std::uint64_t span_bytes) {
    std::uint64_t lost = 0;
    for (std::uint64_t i = 0; i < orders && lost <= most_lost; ++i)
      lost += !footprints.stays(span_bytes, first_order + i);
    return lost <= most_lost;
  };
  for (CapacityBound bound = seen;
       bound.fitting_bytes + most_less_lines * line_bytes >= seen.fitting_bytes;
       bound.fitting_bytes -= line_bytes) {
    if (stays_always(bound.fitting_bytes))
      return {bound, try_footprints(footprints, bound, line_bytes)};
    if (bound.fitting_bytes <= line_bytes) break;
  }
  return {seen, {}};
}

Predictions try_bound(const CacheUnderTest& cache, const CapacityBound& bound,
                      std::uint64_t line_bytes) {
  const Footprints footprints(cache, bound.fitting_bytes, bound.overflowing_bytes + line_bytes,
                              line_bytes);
  return try_footprints(footprints, bound, line_bytes);
}

}  // namespace sonde
