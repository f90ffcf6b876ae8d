// Level by level, inner ones first: penalty, granularity, entry, reach; then sets, replacement and
// scope, each reported as it is found, and the rest with the reason.
#include "jobs/tlb/levels.hpp"

#include "analysis/structure/sets/line_search.hpp"
#include "base/random.hpp"
#include "base/units.hpp"
#include "jobs/run/clock_window.hpp"
#include "jobs/run/replicates.hpp"
#include "jobs/sets/report.hpp"
#include "jobs/sets/search.hpp"
#include "jobs/tlb/level_sets.hpp"
#include "jobs/tlb/scope.hpp"
#include "jobs/tlb/tlb_probe.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

namespace sonde {
namespace {

// Where the bound is gradual, chases beyond it miss in whole sets, chases below it here and there.
constexpr double gradual_missing_share = 0.02;
constexpr double gradual_confidence = 0.5;
// A bound at which so few pages miss is that of one set, and depends on where the buffer lies if
// the index is hashed (seen on H200: 1990 to 2045 entries of 2048).
constexpr double one_set_share = 0.05;
constexpr double one_set_confidence = 0.8;
// Places at which a reach is measured: in each another set may overflow first.
constexpr std::size_t reach_replicates = 3;
// Twice as many entries in a row push out all others, also where sets are unequal.
constexpr std::uint64_t evicting_share = 2;
// Below this share of sets that behave in other chases as predicted, the number of entries is what
// the reach says.
constexpr double sure_agreement = 0.99;

void report_penalty(const TlbUnderTest& tlb, const std::vector<PageChaseCosts>& chases) {
  const auto overflowing = std::find_if(
      chases.begin(), chases.end(),
      [&](const PageChaseCosts& chase) { return chase.span_bytes == tlb.level.overflowing_bytes; });
  std::vector<double> costs = overflowing->cost_cycles;
  std::erase_if(costs, [&](double cost) { return cost <= tlb.level.threshold_cycles; });
  tlb.run.report(found_median(tlb.name + ".miss_penalty_cycles", costs));
}

struct Reach {
  std::uint64_t bytes = 0;
  double confidence = 1;
  std::string remark = {};
  std::optional<Interval> interval = {};  // in bytes, where it depends on the place
  std::uint64_t replicates = 1;
};

/// The bound from other places on: where the index is hashed, each place fills another set first.
/// @return from the lowest to the highest place where it was met; `seen` if all have the same
CapacityBound widen_by_draws(const TlbUnderTest& tlb, std::uint64_t step_bytes,
                             const CapacityBound& seen, ReachSearch search) {
  constexpr std::size_t draws = reach_replicates - 1;
  constexpr double relative_precision = 1.0 / 64;
  CapacityBound widest = seen;
  TlbUnderTest elsewhere = tlb;
  search.near = seen;
  search.relative_precision = relative_precision;
  for (std::size_t number = 1; number <= draws; ++number) {
    elsewhere.chase = at_draw(tlb.chase, draw_replicate(tlb.run, tlb.name + " reach", number));
    const CapacityBound bound = measure_reach(elsewhere, step_bytes, search);
    if (bound.fitting_bytes == 0 || bound.overflowing_bytes == 0) continue;
    widest.fitting_bytes = std::min(widest.fitting_bytes, bound.fitting_bytes);
    widest.overflowing_bytes = std::max(widest.overflowing_bytes, bound.overflowing_bytes);
  }
  return widest;
}

Interval to_interval(const CapacityBound& bound) {
  return {static_cast<double>(bound.fitting_bytes), static_cast<double>(bound.overflowing_bytes)};
}

/// Of a level of which single pages are lost now and then, which is what random replacement does:
/// to the page, if passes that have settled show it; else to a sixteenth of its power of two.
Reach measure_gradual_reach(const TlbUnderTest& tlb, const CapacityBound& first_misses) {
  const std::uint64_t step_bytes = tlb.step_bytes();
  const CapacityBound settled =
      measure_reach(tlb, step_bytes, {.near = first_misses, .is_settled = true});
  if (settled.fitting_bytes > 0 && settled.overflowing_bytes > 0) {
    return {.bytes = settled.fitting_bytes,
            .confidence = one_set_confidence,
            .remark = "single pages are lost now and then: from the next page on in each pass",
            .interval = to_interval(widen_by_draws(tlb, step_bytes, settled, {.is_settled = true})),
            .replicates = reach_replicates};
  }
  const CapacityBound gradual =
      measure_reach(tlb, step_bytes, {.missing_share = gradual_missing_share});
  const std::uint64_t bytes = round_gradual_size(gradual.fitting_bytes);
  if (gradual.overflowing_bytes == 0) return {.bytes = bytes, .confidence = gradual_confidence};
  CapacityBound widest =
      widen_by_draws(tlb, step_bytes, gradual, {.missing_share = gradual_missing_share});
  widest.fitting_bytes = std::min({widest.fitting_bytes, first_misses.fitting_bytes, bytes});
  return {.bytes = bytes,
          .confidence = gradual_confidence,
          .remark = "a gradual capacity transition: below it single entries are lost now and then",
          .interval = to_interval(widest),
          .replicates = reach_replicates};
}

/// To the entry, or, where the transition is gradual, less exactly. 0 bytes if no span overflows
/// it.
Reach measure_checked_reach(const TlbUnderTest& tlb) {
  const std::uint64_t step_bytes = tlb.step_bytes();
  const CapacityBound bound = measure_reach(tlb, step_bytes);
  if (bound.overflowing_bytes == 0) return {};
  const ReachCheck check = check_reach(tlb, bound, step_bytes);
  if (!check.is_steady) return measure_gradual_reach(tlb, bound);
  Reach reach{.bytes = bound.fitting_bytes, .replicates = reach_replicates};
  const CapacityBound widest = widen_by_draws(tlb, step_bytes, bound, {});
  if (widest != bound) {
    reach.interval = to_interval(widest);
    reach.confidence = one_set_confidence;
    reach.remark = "first misses, elsewhere from each place on: the index is hashed";
  }
  if (check.overflowing_share < one_set_share) {
    reach.interval = to_interval(widest);
    reach.confidence = one_set_confidence;
    reach.remark = fmt::format(
        "first misses: at one entry more {:.1f} % of the pages miss, one set of many; where the "
        "index is hashed, others overflow a little later",
        100 * check.overflowing_share);
  }
  return reach;
}

/// The entry of a level, if it is smaller than that of an inner one, which answers for its
/// neighbours: two places lie in one entry if they take the place of one in a full set. Page-stride
/// chases cannot show it. nullopt if no set was found to overflow.
/// @param tlb as if its entries were those of the inner level
std::optional<std::uint64_t> find_small_entry(const TlbUnderTest& tlb) {
  constexpr double least_agreement = 0.75;
  TlbProbe probe(tlb, end_of_search(tlb.run));
  const LinePool& space = probe.pool();
  const auto evictors = probe.find_pass_evictors(space.span_bytes);
  if (!evictors) return std::nullopt;
  Lines pool = shuffled_order(evictors->accessed.front(), space.line_bytes,
                              derive_seed(space.seed, "small entries"));
  pool.resize(std::min<std::size_t>(pool.size(), 4 * tlb.entries));
  const MissOracle ask = ask_behind(probe, *evictors);
  std::string reason;
  try {
    const auto conflict = find_eviction_set(pool, ask, reason);
    if (!conflict) return std::nullopt;
    const LineByConflicts entry = find_line(*conflict, tlb.granularity_bytes, tlb.entry_bytes, ask);
    if (entry.agreement < least_agreement) return std::nullopt;
    return entry.bytes;
  } catch (const SearchOverTime&) {
    return std::nullopt;
  }
}

/// In what units the level fills its entries. @return false if entries may be smaller than those of
/// an inner level, but did not show: then they are taken for as large
bool measure_units(TlbUnderTest& tlb, const BlockSize& granularity) {
  tlb.granularity_bytes = granularity.bytes;
  tlb.entry_bytes = measure_entry(tlb);
  if (tlb.entry_bytes >= tlb.inner.step_bytes) return true;
  tlb.entry_bytes = tlb.inner.step_bytes;
  TlbUnderTest as_inner = tlb;
  as_inner.entries = std::max<std::uint64_t>(1, tlb.level.fitting_bytes / as_inner.entry_bytes);
  const auto entry_bytes = find_small_entry(as_inner);
  if (entry_bytes) tlb.entry_bytes = *entry_bytes;
  return entry_bytes.has_value();
}

void report_reach(const TlbUnderTest& tlb, const Reach& reach, std::uint64_t samples) {
  Finding in_bytes =
      found(tlb.name + ".reach_bytes", static_cast<double>(reach.bytes), reach.confidence, samples);
  in_bytes.interval = reach.interval;
  in_bytes.replicates = reach.replicates;
  tlb.run.report(std::move(in_bytes), reach.remark);
}

void report_units(const TlbUnderTest& tlb, const BlockSize& granularity) {
  const auto of_entry = [&](const char* metric, std::uint64_t value) {
    tlb.run.report(found(tlb.name + metric, static_cast<double>(value), granularity.agreement,
                         granularity.observations));
  };
  of_entry(".entry_bytes", tlb.entry_bytes);
  of_entry(".sub_entries", tlb.entry_bytes / tlb.granularity_bytes);
}

/// The number of entries by the sets, if all were seen; else by the reach.
void report_entries(const TlbUnderTest& tlb, const Reach& reach, const SetLayout& sets,
                    std::uint64_t samples) {
  const std::string metric = tlb.name + ".entries";
  if (!sets.resolved() || sets.agreement < sure_agreement) {
    Finding finding = found(metric, static_cast<double>(tlb.entries), reach.confidence, samples);
    const auto entry_bytes = static_cast<double>(tlb.entry_bytes);
    if (reach.interval) {
      finding.interval =
          Interval{reach.interval->low / entry_bytes, reach.interval->high / entry_bytes};
    }
    finding.replicates = reach.replicates;
    return tlb.run.report(std::move(finding));
  }
  std::string remark;
  if (sets.lines() != tlb.entries) {
    remark = fmt::format("of all sets; {} from the start of a buffer on fit", tlb.entries);
  }
  const double confidence = sets.smaller_sets > 0 ? sets.confidence() : 1;
  tlb.run.report(found(metric, static_cast<double>(sets.lines()), confidence, samples), remark);
}

/// Everything about a level but its penalty. Leaves its entries at 0 if they are not resolved.
/// Why the units of a level are not looked for; "" if they are.
std::string unknown_units(const TlbUnderTest& tlb, const Granularity& granularity) {
  if (!granularity.keeps_new) return "it throws out first what was asked for last";
  if (!granularity.bytes) return "an entry is too large to see two of them";
  return tlb.level.fitting_bytes == 0 ? "even the shortest chase misses" : "";
}

void characterize_level(TlbUnderTest& tlb, const Granularity& granularity) {
  if (const std::string reason = unknown_units(tlb, granularity); !reason.empty()) {
    tlb.run.report(
        not_resolvable(tlb.name + ".reach_bytes",
                       fmt::format("between {} and {}: {}", format_bytes(tlb.level.fitting_bytes),
                                   format_bytes(tlb.level.overflowing_bytes), reason)));
    return tlb.run.report_rest(tlb.name + ".", Status::not_resolvable, reason);
  }
  const bool shows_entries = measure_units(tlb, *granularity.bytes);
  const Reach reach = measure_checked_reach(tlb);
  if (reach.bytes == 0) {
    return tlb.run.report_rest(
        tlb.name + ".", Status::not_resolvable,
        fmt::format(
            "chases in steps of {} do not overflow it in {}: what larger steps met may be a "
            "cache of page tables",
            format_bytes(tlb.step_bytes()), format_bytes(tlb.level.overflowing_bytes)));
  }
  tlb.entries = reach.bytes / tlb.entry_bytes;
  const std::uint64_t samples = reach.bytes / tlb.step_bytes();
  report_reach(tlb, reach, samples);
  if (!shows_entries) {
    return tlb.run.report_rest(
        tlb.name + ".", Status::not_resolvable,
        fmt::format("an inner level answers for all of {}, and no conflict shows how small entries "
                    "are",
                    format_bytes(tlb.inner.step_bytes)));
  }
  report_units(tlb, *granularity.bytes);
  const SetFindings sets = find_sets_in_draws(tlb);
  report_entries(tlb, reach, sets.layout, samples);
  report_tlb_scope(tlb);
  tlb.run.report_rest(tlb.name + ".", Status::not_resolvable, sets.reason);
}

/// Absent is a level only if the longest chase met each entry of its span, or more than a level of
/// such a GPU has.
void report_no_level(const PageChaseSetup& setup, const std::string& name,
                     const PageChaseCosts& longest, const InnerTlbs& inner) {
  // Only GPUs with an L2 below 1 MB have so few lines; levels of 65 entries were seen there (Mei
  // and Chu 2016), of 2048 on an H200.
  constexpr std::uint64_t most_entries = 1024;
  const std::uint64_t pages = longest.cost_cycles.size();
  const std::uint64_t step_bytes = longest.span_bytes / pages;
  const std::string reason = fmt::format("no further rise of the cost of a translation up to {}",
                                         format_bytes(longest.span_bytes));
  if (step_bytes <= inner.step_bytes || pages > most_entries) {
    return setup.run.report_rest(name + ".", Status::not_present, reason);
  }
  setup.run.report_rest(
      name + ".", Status::not_resolvable,
      fmt::format("{}, of which {} pages were accessed, as many as have a line in the L2 for sure: "
                  "a level of more entries would not show",
                  reason, pages));
}

}  // namespace

TlbLevels find_levels(const PageChaseSetup& setup, const std::vector<PageChaseCosts>& chases,
                      std::size_t most_levels) {
  TlbLevels found;
  found.levels = find_tlb_levels(chases, setup.least_step_cycles);
  found.levels.resize(std::min(found.levels.size(), most_levels));
  found.chased_bytes = chases.back().span_bytes;
  return found;
}

void characterize_tlb_levels(const PageChaseSetup& setup, const std::vector<PageChaseCosts>& chases,
                             std::span<const char* const> names, TlbLevels& found) {
  InnerTlbs inner;
  for (std::size_t i = 0; i < found.levels.size(); ++i) {
    TlbUnderTest tlb{setup, names[i], found.levels[i], inner};
    report_penalty(tlb, chases);
    const Granularity granularity = measure_granularity(tlb);
    if (granularity.bytes) {
      found.granularities.push_back(*granularity.bytes);
      inner.granularity_bytes = granularity.bytes->bytes;
    }
    characterize_level(tlb, granularity);
    inner.step_bytes = tlb.step_bytes();
    found.steps_bytes.push_back(tlb.entry_bytes > 0 ? inner.step_bytes : 0);
    inner.entries = std::max(inner.entries, tlb.entries);
    inner.threshold_cycles = tlb.level.threshold_cycles;
    if (inner.step_bytes > 0) {
      inner.pages =
          std::min(tlb.level.overflowing_bytes / inner.step_bytes, evicting_share * inner.entries);
    }
  }
  found.largest_entry_bytes = inner.step_bytes;
  for (std::size_t i = found.levels.size(); i < names.size(); ++i) {
    report_no_level(setup, names[i], chases.back(), inner);
  }
}

}  // namespace sonde
