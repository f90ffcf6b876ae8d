// Level by level: penalty, granularity, entry, reach; then sets, replacement and scope.
#include "jobs/tlb/levels.hpp"

#include "analysis/statistics.hpp"
#include "base/units.hpp"
#include "jobs/sets/tlb_sets.hpp"
#include "jobs/tlb/scope.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>

namespace sonde {
namespace {

// A soft bound: chases beyond it miss in whole sets, chases below it here and there.
constexpr double soft_missing_share = 0.02;
constexpr double gradual_confidence = 0.5;
// An bound at which so few pages miss is that of one set, and depends on where the buffer lies if
// the index is hashed (seen on H200: 1990 to 2045 entries of 2048).
constexpr double one_set_share = 0.05;
constexpr double one_set_confidence = 0.8;
// Twice as many entries in a row push out all others, also where sets are unequal.
constexpr std::uint64_t evicting_share = 2;
constexpr std::array geometry_metrics{".reach_bytes", ".entries", ".entry_bytes", ".sub_entries"};
constexpr std::array structure_metrics{
    ".sets",           ".ways",        ".ways_per_set",    ".tag_reach_bytes",
    ".index_function", ".replacement", ".way_probability", ".scope"};

std::string as_text(std::uint64_t bytes) { return format_bytes(static_cast<double>(bytes)); }

void report_all(JobRun& run, const std::string& name, std::span<const char* const> metrics,
                Status status, const std::string& reason) {
  for (const char* metric : metrics) {
    run.report(status == Status::not_present ? not_present(name + metric, reason)
                                             : not_resolvable(name + metric, reason));
  }
}

void report_penalty(JobRun& run, const TlbUnderTest& tlb, const PageChaseCosts& overflowing) {
  std::vector<double> costs;
  for (double cost : overflowing.cost_cycles) {
    if (cost > tlb.level.threshold_cycles) costs.push_back(cost);
  }
  const std::uint64_t samples = costs.size();
  run.report(found(tlb.name + ".miss_penalty_cycles", median(costs), 1, samples,
                   median_absolute_deviation(costs)));
}

struct Reach {
  CapacityBound bound;
  double confidence = 1;
  std::string remark;
};

/// To the entry, or, where the bound is soft, to a sixteenth of its power of two.
Reach measure_checked_reach(JobRun& run, const PageChaseSetup& setup, const TlbUnderTest& tlb,
                            std::uint64_t granularity_bytes, std::uint64_t step_bytes) {
  Reach reach{measure_reach(run, setup, tlb, granularity_bytes, step_bytes, 0), 1, {}};
  if (reach.bound.overflowing_bytes == 0) return reach;
  const ReachCheck check = check_reach(run, setup, tlb, reach.bound, granularity_bytes, step_bytes);
  if (!check.is_steady) {
    reach.bound =
        measure_reach(run, setup, tlb, granularity_bytes, step_bytes, 0, soft_missing_share);
    reach.bound.fitting_bytes = round_gradual_size(reach.bound.fitting_bytes);
    reach.confidence = gradual_confidence;
    reach.remark = "the edge is soft: below it single entries are lost now and then";
  } else if (check.overflowing_share < one_set_share) {
    reach.confidence = one_set_confidence;
    reach.remark = fmt::format(
        "first misses: at one entry more {:.1f} % of the pages miss, one set of many; where the "
        "index is hashed, others overflow a little later",
        100 * check.overflowing_share);
  }
  return reach;
}

void report_unresolved_geometry(JobRun& run, const TlbUnderTest& tlb, const std::string& reason) {
  report_all(run, tlb.name, std::span(geometry_metrics).subspan(1), Status::not_resolvable, reason);
  report_all(run, tlb.name, structure_metrics, Status::not_resolvable, reason);
  run.report(not_resolvable(tlb.name + ".reach_bytes",
                            fmt::format("between {} and {}: {}", as_text(tlb.level.fitting_bytes),
                                        as_text(tlb.level.overflowing_bytes), reason)));
}

/// The number of entries by the sets, if all were seen; else by the reach.
void report_entries(JobRun& run, const TlbGeometry& shape, const Reach& reach,
                    std::optional<std::uint64_t> in_sets, std::uint64_t samples) {
  const std::string metric = shape.tlb.name + ".entries";
  if (!in_sets) {
    run.report(found(metric, static_cast<double>(shape.entries), reach.confidence, samples));
    return;
  }
  Finding entries = found(metric, static_cast<double>(*in_sets), 1, samples);
  if (*in_sets != shape.entries) {
    entries.reason =
        fmt::format("of all sets; {} from the start of a buffer on fit", shape.entries);
  }
  run.report(std::move(entries));
}

/// Everything about a level but its penalty. Gives back its shape; no entries: not resolved.
TlbGeometry characterize_level(JobRun& run, const PageChaseSetup& setup, const TlbUnderTest& tlb,
                               const std::optional<BlockSize>& granularity) {
  TlbGeometry shape{tlb, 0, 0, 0};
  if (!granularity || tlb.level.fitting_bytes == 0) {
    report_unresolved_geometry(
        run, tlb,
        granularity ? "even the shortest walk misses" : "an entry is too large to see two of them");
    return shape;
  }
  shape.granularity_bytes = granularity->bytes;
  shape.entry_bytes = measure_entry(run, setup, tlb, granularity->bytes);
  if (shape.entry_bytes < tlb.inner_step_bytes) {
    TlbGeometry outline = shape;
    outline.entry_bytes = tlb.inner_step_bytes;
    outline.entries = std::max<std::uint64_t>(1, tlb.level.fitting_bytes / outline.entry_bytes);
    shape.entry_bytes = find_small_entry(run, setup, outline).value_or(shape.entry_bytes);
  }
  const std::uint64_t step_bytes = std::max(shape.entry_bytes, tlb.inner_step_bytes);
  const Reach reach = measure_checked_reach(run, setup, tlb, granularity->bytes, step_bytes);
  shape.entries = reach.bound.fitting_bytes / shape.entry_bytes;
  const std::uint64_t samples = reach.bound.fitting_bytes / step_bytes;
  Finding reached = found(tlb.name + ".reach_bytes", static_cast<double>(reach.bound.fitting_bytes),
                          reach.confidence, samples);
  reached.reason = reach.remark;
  run.report(std::move(reached));
  run.report(found(tlb.name + ".entry_bytes", static_cast<double>(shape.entry_bytes),
                   granularity->agreement, granularity->observations));
  run.report(found(tlb.name + ".sub_entries",
                   static_cast<double>(shape.entry_bytes / shape.granularity_bytes),
                   granularity->agreement, granularity->observations));
  report_entries(run, shape, reach, characterize_tlb_sets(run, setup, shape), samples);
  report_tlb_scope(run, setup, shape);
  return shape;
}

}  // namespace

void report_no_tlb_level(JobRun& run, const std::string& name, Status status,
                         const std::string& reason) {
  report_all(run, name, geometry_metrics, status, reason);
  report_all(run, name, structure_metrics, status, reason);
  report_all(run, name, std::array{".miss_penalty_cycles"}, status, reason);
}

TlbLevels find_levels(const std::vector<PageChaseCosts>& chases, std::size_t most_levels) {
  TlbLevels found;
  found.levels = find_tlb_levels(chases, least_tlb_step_cycles);
  found.levels.resize(std::min(found.levels.size(), most_levels));
  found.walked_bytes = chases.back().span_bytes;
  return found;
}

void characterize_tlb_levels(JobRun& run, const PageChaseSetup& setup,
                             const std::vector<PageChaseCosts>& chases,
                             std::span<const char* const> names, TlbLevels& found) {
  TlbUnderTest tlb;
  for (std::size_t i = 0; i < found.levels.size(); ++i) {
    tlb.name = names[i];
    tlb.level = found.levels[i];
    const auto overflowing =
        std::find_if(chases.begin(), chases.end(), [&](const PageChaseCosts& chase) {
          return chase.span_bytes == tlb.level.overflowing_bytes;
        });
    report_penalty(run, tlb, *overflowing);
    const auto granularity = measure_granularity(run, setup, tlb);
    if (granularity) found.granularities.push_back(*granularity);
    const TlbGeometry shape = characterize_level(run, setup, tlb, granularity);
    tlb.inner_step_bytes = std::max(tlb.inner_step_bytes, shape.entry_bytes);
    found.steps_bytes.push_back(shape.entry_bytes > 0 ? tlb.inner_step_bytes : 0);
    tlb.inner_entries = std::max(tlb.inner_entries, shape.entries);
    tlb.inner_threshold_cycles = tlb.level.threshold_cycles;
    if (tlb.inner_step_bytes > 0) {
      tlb.inner_pages = std::min(tlb.level.overflowing_bytes / tlb.inner_step_bytes,
                                 evicting_share * tlb.inner_entries);
    }
  }
  found.largest_entry_bytes = tlb.inner_step_bytes;
  const std::string reason = fmt::format("no further rise of the cost of a translation up to {}",
                                         as_text(found.walked_bytes));
  for (std::size_t i = found.levels.size(); i < names.size(); ++i) {
    report_no_tlb_level(run, names[i], Status::not_present, reason);
  }
}

}  // namespace sonde
