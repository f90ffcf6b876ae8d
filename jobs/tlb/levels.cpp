// Measures and reports level by level, inner levels first: penalty, granularity, entry, reach, then
// sets, replacement and scope.

#include "analysis/structure/sets/line_search.hpp"
#include "base/random.hpp"
#include "base/units.hpp"
#include "device/device_error.hpp"
#include "jobs/run/clock_window.hpp"
#include "jobs/tlb/parts.hpp"
#include "jobs/tlb/tlb_probe.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace sonde {
namespace {

// Twice as many consecutive entries evict all others, also from unequal sets.
constexpr std::uint64_t evicting_share = 2;
void report_penalty(const TlbUnderTest& tlb, const std::vector<PageChaseCosts>& chases) {
  const auto overflowing = std::find_if(
      chases.begin(), chases.end(),
      [&](const PageChaseCosts& chase) { return chase.span_bytes == tlb.level.overflowing_bytes; });
  std::vector<double> costs = overflowing->cost_cycles;
  std::erase_if(costs, [&](double cost) { return cost <= tlb.level.threshold_cycles; });
  tlb.run.report(found_median(tlb.name + ".miss_penalty_cycles", costs));
}

/// The entry of a level whose entries are smaller than those of an inner level, which then serves
/// neighbours. Page-stride chases cannot show it, but conflicts can: two places lie in one entry if
/// they count as one in a full set. nullopt if no set overflows.
/// @param tlb with the entry size of the inner level
std::optional<std::uint64_t> find_small_entry(const TlbUnderTest& tlb) {
  constexpr double least_agreement = 0.75;
  TlbProbe probe(tlb, end_of_search(tlb.run));
  const LinePool& space = probe.pool();
  const auto evictors = probe.find_pass_evictors(space.span_bytes);
  // There are none if the entries of the inner level are not known.
  if (!evictors || evictors->accessed.empty()) return std::nullopt;
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

/// Measures granularity and entry; the entry is 0 if not known. @return false if entries may be
/// smaller than those of an inner level but this was not seen; the larger size is then assumed
bool measure_units(TlbUnderTest& tlb, const BlockSize& granularity) {
  tlb.granularity_bytes = granularity.bytes;
  tlb.entry_bytes = measure_entry(tlb).value_or(0);
  if (tlb.entry_bytes == 0) return false;
  if (tlb.entry_bytes >= tlb.inner.answered_bytes) return true;
  tlb.entry_bytes = tlb.inner.answered_bytes;
  TlbUnderTest as_inner = tlb;
  as_inner.entries = std::max<std::uint64_t>(1, tlb.level.fitting_bytes / as_inner.entry_bytes);
  const auto entry_bytes = find_small_entry(as_inner);
  if (entry_bytes) tlb.entry_bytes = *entry_bytes;
  return entry_bytes.has_value();
}

void report_reach(const TlbUnderTest& tlb, const Reach& reach, std::uint64_t samples) {
  const std::string metric = tlb.name + ".reach_bytes";
  if (reach.bytes == 0) return tlb.run.report(not_resolvable(metric, reach.reason));
  tlb.run.report(found(metric, static_cast<double>(reach.bytes), reach.confidence, samples),
                 reach.reason);
}

void report_units(const TlbUnderTest& tlb, const BlockSize& granularity) {
  const auto of_entry = [&](const char* metric, std::uint64_t value) {
    tlb.run.report(found(tlb.name + metric, static_cast<double>(value), granularity.agreement,
                         granularity.observations));
  };
  of_entry(".entry_bytes", tlb.entry_bytes);
  of_entry(".sub_entries", tlb.entry_bytes / tlb.granularity_bytes);
}

void report_entries(const TlbUnderTest& tlb, const Reach& reach, std::uint64_t samples) {
  const std::string metric = tlb.name + ".entries";
  if (reach.bytes == 0) return tlb.run.report(not_resolvable(metric, reach.reason));
  const std::uint64_t entries = reach.bytes / tlb.entry_bytes;
  tlb.run.report(
      found(metric, static_cast<double>(entries), reach.confidence, samples),
      entries == tlb.entries
          ? std::string()
          : fmt::format("entries of all sets; {} consecutive ones from the start of a buffer fit",
                        tlb.entries));
}

/// Whether an entry covers too many pages for a TLB (at most 16 since Turing). Entries of page
/// directories cover 256 or more.
bool is_of_page_tables(std::uint64_t entry_bytes, const InnerTlbs& inner) {
  constexpr std::uint64_t most_pages_of_entry = 64;
  return inner.page_bytes > 0 && entry_bytes > most_pages_of_entry * inner.page_bytes;
}

/// Reports a level of which only the penalty and a range of the reach are known.
void report_unknown_units(const TlbUnderTest& tlb, const std::vector<PageChaseCosts>& chases,
                          const std::string& reason) {
  report_penalty(tlb, chases);
  tlb.run.report(
      not_resolvable(tlb.name + ".reach_bytes",
                     fmt::format("between {} and {}: {}", format_bytes(tlb.level.fitting_bytes),
                                 format_bytes(tlb.level.overflowing_bytes), reason)));
  tlb.run.leave_open(tlb.name + ".", reason);
}

/// @throws ProbeTooLargeError if a list is longer than the device can chase
void measure_level(TlbUnderTest& tlb, const std::vector<PageChaseCosts>& chases,
                   const std::optional<BlockSize>& granularity) {
  if (!granularity || tlb.level.fitting_bytes == 0) {
    return report_unknown_units(tlb, chases,
                                granularity
                                    ? "even the shortest chase misses"
                                    : "entries are so large that a chase cannot span two of them");
  }
  const bool shows_entries = measure_units(tlb, *granularity);
  if (tlb.entry_bytes == 0) {
    return report_unknown_units(
        tlb, chases,
        "it is not clear which pages share an entry: random pages miss differently from pages at "
        "equal distances, or the share of misses falls gradually with block size");
  }
  if (is_of_page_tables(tlb.entry_bytes, tlb.inner)) {
    return tlb.run.report_rest(
        tlb.name + ".", Status::not_present,
        fmt::format(
            "the higher cost from {} on comes from a cache of page tables: one entry covers {}",
            format_bytes(tlb.level.overflowing_bytes), format_bytes(tlb.entry_bytes)));
  }
  report_penalty(tlb, chases);
  const CapacityBound bound = measure_reach(tlb, tlb.step_bytes());
  if (bound.overflowing_bytes == 0 || bound.fitting_bytes == 0) {
    return tlb.run.leave_open(
        tlb.name + ".",
        fmt::format("chases in steps of {} do not overflow it within {}: larger steps may have "
                    "overflowed a cache of page tables",
                    format_bytes(tlb.step_bytes()), format_bytes(tlb.level.overflowing_bytes)));
  }
  tlb.entries = bound.fitting_bytes / tlb.entry_bytes;
  const std::uint64_t samples = bound.fitting_bytes / tlb.step_bytes();
  if (!shows_entries) {
    TlbUnderTest smallest = tlb;
    smallest.entry_bytes = tlb.granularity_bytes;
    report_reach(tlb, settle_reach(smallest, bound, {}), samples);
    return tlb.run.leave_open(
        tlb.name + ".",
        fmt::format("an inner level serves all of {}, and no conflict shows the size of an entry",
                    format_bytes(tlb.inner.answered_bytes)));
  }
  report_units(tlb, *granularity);
  tlb.sms_apart = report_tlb_scope(tlb);
  const SetFindings sets = find_sets_in_draws(tlb);
  const Reach reach = settle_reach(tlb, bound, sets.layout);
  report_reach(tlb, reach, samples);
  report_entries(tlb, reach, samples);
  tlb.run.leave_open(tlb.name + ".", sets.reason);
}

/// Measures and reports a level. Leaves its entries at 0 if they are not resolved.
void characterize_level(TlbUnderTest& tlb, const std::vector<PageChaseCosts>& chases,
                        const std::optional<BlockSize>& granularity) {
  try {
    measure_level(tlb, chases, granularity);
  } catch (const ProbeTooLargeError& error) {
    tlb.run.leave_open(tlb.name + ".", error.what());
  }
}

/// Why a further level may exist unseen; "" if it cannot. The longest chase must have used every
/// entry of its span, or more entries than a level of such a GPU has.
std::string why_not_absent(const std::vector<PageChaseCosts>& chases, const TlbLevels& found,
                           const InnerTlbs& inner) {
  // Only GPUs with an L2 below 1 MB allow so few lines. Levels of 65 entries were seen on them (Mei
  // and Chu 2016); an H200 has 2048.
  constexpr std::uint64_t most_entries = 1024;
  const std::uint64_t pages = chases.back().cost_cycles.size();
  const std::uint64_t step_bytes = chases.back().span_bytes / pages;
  if (step_bytes > inner.step_bytes && pages <= most_entries)
    return fmt::format(
        "of which {} pages were accessed: a level with more entries would go unnoticed", pages);
  if (!found.steps_bytes.empty() && found.steps_bytes.back() == 0 && inner.step_bytes == 0)
    return "but the entries of an inner level are not known: two levels may overflow at once";
  return "";
}

void report_no_level(const PageChaseSetup& setup, const std::string& name,
                     const PageChaseCosts& longest, const std::string& why_not) {
  const std::string reason = fmt::format("no further rise of the cost of a translation up to {}",
                                         format_bytes(longest.span_bytes));
  if (why_not.empty()) return setup.run.report_rest(name + ".", Status::not_present, reason);
  setup.run.leave_open(name + ".", reason + ", " + why_not);
}

}  // namespace

TlbLevels characterize_tlb_levels(const PageChaseSetup& setup,
                                  const std::vector<PageChaseCosts>& chases,
                                  std::span<const char* const> names) {
  TlbLevels found{.levels = find_tlb_levels(chases, setup.least_step_cycles)};
  found.levels.resize(std::min(found.levels.size(), names.size()));
  InnerTlbs inner;
  for (std::size_t i = 0; i < found.levels.size(); ++i) {
    TlbUnderTest tlb{setup, names[i], found.levels[i], inner};
    const auto granularity = measure_granularity(tlb);
    if (granularity) {
      found.granularities.push_back(*granularity);
      inner.granularity_bytes = granularity->bytes;
      inner.page_bytes = std::min(inner.page_bytes > 0 ? inner.page_bytes : inner.granularity_bytes,
                                  inner.granularity_bytes);
    }
    characterize_level(tlb, chases, granularity);
    if (is_of_page_tables(tlb.entry_bytes, tlb.inner)) {
      found.steps_bytes.push_back(0);
      continue;
    }
    inner.step_bytes = std::max(tlb.entry_bytes, inner.step_bytes);
    inner.answered_bytes = std::max(tlb.granularity_bytes, inner.answered_bytes);
    found.steps_bytes.push_back(tlb.entry_bytes > 0 ? tlb.step_bytes() : 0);
    inner.entries = std::max(inner.entries, tlb.entries);
    inner.overflowing_bytes = tlb.level.overflowing_bytes;
    inner.threshold_cycles = tlb.level.threshold_cycles;
    if (inner.step_bytes > 0) {
      inner.pages =
          std::min(tlb.level.overflowing_bytes / inner.step_bytes, evicting_share * inner.entries);
    }
  }
  found.largest_entry_bytes = inner.step_bytes;
  const std::string why_not = why_not_absent(chases, found, inner);
  for (std::size_t i = found.levels.size(); i < names.size(); ++i)
    report_no_level(setup, names[i], chases.back(), why_not);
  return found;
}

}  // namespace sonde
