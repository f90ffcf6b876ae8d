// Level by level, inner ones first: penalty, granularity, entry, reach; then sets, replacement and
// scope, each reported as it is found, and the rest with the reason.
#include "jobs/tlb/levels.hpp"

#include "analysis/statistics.hpp"
#include "base/units.hpp"
#include "jobs/sets/search.hpp"
#include "jobs/sets/tlb_probe.hpp"
#include "jobs/tlb/geometry.hpp"
#include "jobs/tlb/scope.hpp"
#include "jobs/tlb/small_entry.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace sonde {
namespace {

// Where the bound is gradual, chases beyond it miss in whole sets, chases below it here and there.
constexpr double gradual_missing_share = 0.02;
constexpr double gradual_confidence = 0.5;
// A bound at which so few pages miss is that of one set, and depends on where the buffer lies if
// the index is hashed (seen on H200: 1990 to 2045 entries of 2048).
constexpr double one_set_share = 0.05;
constexpr double one_set_confidence = 0.8;
// Twice as many entries in a row push out all others, also where sets are unequal.
constexpr std::uint64_t evicting_share = 2;
// Below this share of sets that behave in other chases as predicted, the number of entries is what
// the reach says.
constexpr double sure_agreement = 0.99;

std::string as_text(std::uint64_t bytes) { return format_bytes(static_cast<double>(bytes)); }

void report_penalty(const TlbUnderTest& tlb, const std::vector<PageChaseCosts>& chases) {
  const auto overflowing = std::find_if(
      chases.begin(), chases.end(),
      [&](const PageChaseCosts& chase) { return chase.span_bytes == tlb.level.overflowing_bytes; });
  std::vector<double> costs;
  for (double cost : overflowing->cost_cycles) {
    if (cost > tlb.level.threshold_cycles) costs.push_back(cost);
  }
  tlb.run.report(found(tlb.name + ".miss_penalty_cycles", median(costs), 1, costs.size(),
                       median_absolute_deviation(costs)));
}

struct Reach {
  std::uint64_t bytes = 0;
  double confidence = 1;
  std::string remark = {};
};

/// To the entry, or, where the transition is gradual, to a sixteenth of its power of two.
Reach measure_checked_reach(const TlbUnderTest& tlb) {
  const std::uint64_t step_bytes = tlb.step_bytes();
  const CapacityBound bound = measure_reach(tlb, step_bytes, 0);
  if (bound.overflowing_bytes == 0) return {.bytes = bound.fitting_bytes};
  const ReachCheck check = check_reach(tlb, bound, step_bytes);
  if (!check.is_steady) {
    const CapacityBound gradual = measure_reach(tlb, step_bytes, 0, gradual_missing_share);
    return {round_gradual_size(gradual.fitting_bytes), gradual_confidence,
            "a gradual capacity transition: below it single entries are lost now and then"};
  }
  if (check.overflowing_share >= one_set_share) return {.bytes = bound.fitting_bytes};
  return {bound.fitting_bytes, one_set_confidence,
          fmt::format("first misses: at one entry more {:.1f} % of the pages miss, one set of "
                      "many; where the index is hashed, others overflow a little later",
                      100 * check.overflowing_share)};
}

/// In what units the level fills its entries.
void measure_units(TlbUnderTest& tlb, const BlockSize& granularity) {
  tlb.granularity_bytes = granularity.bytes;
  tlb.entry_bytes = measure_entry(tlb);
  if (tlb.entry_bytes >= tlb.inner.step_bytes) return;
  TlbUnderTest as_inner = tlb;
  as_inner.entry_bytes = tlb.inner.step_bytes;
  as_inner.entries = std::max<std::uint64_t>(1, tlb.level.fitting_bytes / as_inner.entry_bytes);
  tlb.entry_bytes = find_small_entry(as_inner).value_or(tlb.entry_bytes);
}

void report_units(const TlbUnderTest& tlb, const Reach& reach, const BlockSize& granularity,
                  std::uint64_t samples) {
  Finding reached =
      found(tlb.name + ".reach_bytes", static_cast<double>(reach.bytes), reach.confidence, samples);
  reached.reason = reach.remark;
  tlb.run.report(std::move(reached));
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
    tlb.run.report(found(metric, static_cast<double>(tlb.entries), reach.confidence, samples));
    return;
  }
  Finding entries = found(metric, static_cast<double>(sets.lines()), 1, samples);
  if (sets.lines() != tlb.entries) {
    entries.reason = fmt::format("of all sets; {} from the start of a buffer on fit", tlb.entries);
  }
  tlb.run.report(std::move(entries));
}

/// Everything about a level but its penalty. Leaves its entries at 0 if they are not resolved.
void characterize_level(TlbUnderTest& tlb, const std::optional<BlockSize>& granularity) {
  if (!granularity || tlb.level.fitting_bytes == 0) {
    const std::string reason =
        granularity ? "even the shortest chase misses" : "an entry is too large to see two of them";
    tlb.run.report(
        not_resolvable(tlb.name + ".reach_bytes",
                       fmt::format("between {} and {}: {}", as_text(tlb.level.fitting_bytes),
                                   as_text(tlb.level.overflowing_bytes), reason)));
    tlb.run.report_rest(tlb.name + ".", Status::not_resolvable, reason);
    return;
  }
  measure_units(tlb, *granularity);
  const Reach reach = measure_checked_reach(tlb);
  tlb.entries = reach.bytes / tlb.entry_bytes;
  const std::uint64_t samples = reach.bytes / tlb.step_bytes();
  report_units(tlb, reach, *granularity, samples);
  TlbProbe probe(tlb);
  const SetFindings sets = characterize_sets(probe);
  report_entries(tlb, reach, sets.layout, samples);
  report_tlb_scope(tlb);
  tlb.run.report_rest(tlb.name + ".", Status::not_resolvable, sets.reason);
}

}  // namespace

TlbLevels find_levels(const std::vector<PageChaseCosts>& chases, std::size_t most_levels) {
  TlbLevels found;
  found.levels = find_tlb_levels(chases, least_tlb_step_cycles);
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
    const auto granularity = measure_granularity(tlb);
    if (granularity) found.granularities.push_back(*granularity);
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
    setup.run.report_rest(std::string(names[i]) + ".", Status::not_present,
                          fmt::format("no further rise of the cost of a translation up to {}",
                                      as_text(found.chased_bytes)));
  }
}

}  // namespace sonde
