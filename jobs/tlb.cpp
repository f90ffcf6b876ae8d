// Job `tlb`: levels of the translation look-aside buffer, their reach and entries, the page, and
// the window of page tables that is active at a time. Method: docs/methods/tlb.md.
#include "analysis/statistics.hpp"
#include "base/units.hpp"
#include "jobs/jobs.hpp"
#include "jobs/page_walk.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>

namespace sonde {
namespace {

// Half of the smallest penalty published (GTX 780: 198 to 204 cycles, Mei and Chu 2016, figure 14).
constexpr double least_step_cycles = 3;
// A soft edge: walks beyond it miss in whole sets, walks below it here and there.
constexpr double soft_missing_share = 0.02;
constexpr double soft_confidence = 0.5;
// An edge at which so few pages miss is that of one set, and depends on where the buffer lies if
// the index is hashed (seen on H200: 1990 to 2045 entries of 2048).
constexpr double one_set_share = 0.05;
constexpr double one_set_confidence = 0.8;
// Device memory comes in pages of 2 MiB at most (CUDA driver API, allocation granularity).
constexpr std::uint64_t largest_page_bytes = 2_MiB;
constexpr std::array level_names{"tlb.l1", "tlb.l2", "tlb.l3"};
constexpr std::array level_metrics{".reach_bytes", ".entries", ".entry_bytes",
                                   ".miss_penalty_cycles"};
// Page tables of 512 MB are active at a time on Kepler and Maxwell: eight of them, if there is
// memory, show the distance between switches.
constexpr std::uint64_t window_span_bytes = 4_GiB;

std::string as_text(std::uint64_t bytes) { return format_bytes(static_cast<double>(bytes)); }

void report_missing_level(JobRun& run, const std::string& name, const std::string& reason) {
  for (const char* metric : level_metrics) run.report(not_present(name + metric, reason));
}

void report_penalty(JobRun& run, const TlbSubject& tlb, const PageWalkCosts& overflowing) {
  std::vector<double> costs;
  for (double cost : overflowing.cost_cycles) {
    if (cost > tlb.level.threshold_cycles) costs.push_back(cost);
  }
  const std::uint64_t samples = costs.size();
  run.report(found(tlb.name + ".miss_penalty_cycles", median(costs), 1, samples,
                   median_absolute_deviation(costs)));
}

/// Reach and entries of a level. Gives back the size of an entry; 0 if it was not resolved.
std::uint64_t report_geometry(JobRun& run, const PageSetup& setup, const TlbSubject& tlb,
                              const std::optional<BlockSize>& granule) {
  if (!granule || tlb.level.fitting_bytes == 0) {
    const std::string reason =
        granule ? "even the shortest walk misses" : "an entry is too large to see two of them";
    run.report(not_resolvable(tlb.name + ".entry_bytes", reason));
    run.report(not_resolvable(tlb.name + ".entries", reason));
    Finding reach =
        not_resolvable(tlb.name + ".reach_bytes",
                       fmt::format("between {} and {}: {}", as_text(tlb.level.fitting_bytes),
                                   as_text(tlb.level.overflowing_bytes), reason));
    run.report(std::move(reach));
    return 0;
  }
  const std::uint64_t entry_bytes = measure_entry(run, setup, tlb, granule->bytes);
  const std::uint64_t step_bytes = std::max(entry_bytes, tlb.nearer_step_bytes);
  Edge edge = measure_reach(run, setup, tlb, granule->bytes, step_bytes, 0);
  const bool bounded = edge.overflowing_bytes > 0;
  const ReachCheck check =
      bounded ? check_reach(run, setup, tlb, edge, granule->bytes, step_bytes) : ReachCheck{};
  double confidence = 1;
  std::string remark;
  if (!check.is_steady) {
    edge = measure_reach(run, setup, tlb, granule->bytes, step_bytes, 0, soft_missing_share);
    edge.fitting_bytes = round_soft_size(edge.fitting_bytes);
    confidence = soft_confidence;
    remark = "the edge is soft: below it single entries are lost now and then";
  } else if (bounded && check.overflowing_share < one_set_share) {
    confidence = one_set_confidence;
    remark = fmt::format(
        "first misses: at one entry more {:.1f} % of the pages miss, one set of many; where the "
        "index is hashed, others overflow a little later",
        100 * check.overflowing_share);
  }
  const std::uint64_t steps = edge.fitting_bytes / step_bytes;
  Finding reach =
      found(tlb.name + ".reach_bytes", static_cast<double>(edge.fitting_bytes), confidence, steps);
  reach.reason = remark;
  run.report(std::move(reach));
  run.report(found(tlb.name + ".entry_bytes", static_cast<double>(entry_bytes), granule->agreement,
                   granule->observations));
  run.report(found(tlb.name + ".entries", static_cast<double>(edge.fitting_bytes / entry_bytes),
                   confidence, steps));
  return entry_bytes;
}

void report_page(JobRun& run, const std::vector<BlockSize>& granules) {
  if (granules.empty()) {
    run.report(not_resolvable("tlb.page_bytes", "no translation ever cost anything"));
    return;
  }
  const auto smallest =
      std::min_element(granules.begin(), granules.end(),
                       [](const BlockSize& a, const BlockSize& b) { return a.bytes < b.bytes; });
  if (smallest->bytes > largest_page_bytes) {
    run.report(not_resolvable(
        "tlb.page_bytes",
        fmt::format("an entry covers {}, several neighbouring pages: none is seen alone",
                    as_text(smallest->bytes))));
    return;
  }
  run.report(found("tlb.page_bytes", static_cast<double>(smallest->bytes), smallest->agreement,
                   smallest->observations));
}

/// Pages whose first visit costs clearly more than that of others, at regular distances.
void report_window(JobRun& run, const PageSetup& setup, std::uint64_t page_step_bytes) {
  constexpr double largest_share = 0.05;
  constexpr double least_agreement = 0.9;
  constexpr std::size_t least_distances = 3;  // two slow pages are at some distance by chance
  const std::uint64_t span_bytes = std::min(setup.limit_bytes, window_span_bytes);
  const std::vector<double> cold = measure_cold_pages(run, setup, span_bytes, page_step_bytes);
  const double usual_cycles = median(cold);
  const double gap_cycles = std::max(8 * median_absolute_deviation(cold), usual_cycles / 32);
  std::vector<bool> switches(cold.size());
  for (std::size_t i = 1; i < cold.size(); ++i) switches[i] = cold[i] > usual_cycles + gap_cycles;
  const auto count = static_cast<double>(count_set(switches));
  const auto distance = miss_distance(switches, page_step_bytes);
  const std::string seen =
      fmt::format("first visits to {} of {}", as_text(page_step_bytes), as_text(span_bytes));
  if (count == 0 || count > largest_share * static_cast<double>(cold.size())) {
    run.report(
        not_present("tlb.page_window_bytes", seen + ": none at regular distances is slower"));
  } else if (!distance || distance->observations < least_distances) {
    run.report(not_present("tlb.page_window_bytes",
                           fmt::format("{}: {} slower ones, too few to repeat", seen, count)));
  } else if (distance->agreement < least_agreement) {
    run.report(not_resolvable("tlb.page_window_bytes",
                              fmt::format("{}: {} slower ones, not at one distance", seen, count)));
  } else {
    run.report(found("tlb.page_window_bytes", static_cast<double>(distance->bytes),
                     distance->agreement, distance->observations));
  }
}

}  // namespace

void run_tlb(JobRun& run) {
  const PageSetup setup = set_up_page_walks(run);
  const std::vector<PageWalkCosts> walks = measure_growing_walks(run, setup);
  std::vector<TlbLevel> levels = find_tlb_levels(walks, least_step_cycles);
  levels.resize(std::min(levels.size(), level_names.size()));

  TlbSubject tlb;
  std::vector<BlockSize> granules;
  for (std::size_t i = 0; i < levels.size(); ++i) {
    tlb.name = level_names[i];
    tlb.level = levels[i];
    const auto overflowing = std::find_if(
        walks.begin(), walks.end(),
        [&](const PageWalkCosts& walk) { return walk.span_bytes == tlb.level.overflowing_bytes; });
    report_penalty(run, tlb, *overflowing);
    const auto granule = measure_granule(run, setup, tlb);
    if (granule) granules.push_back(*granule);
    const std::uint64_t entry_bytes = report_geometry(run, setup, tlb, granule);
    tlb.nearer_step_bytes = std::max(tlb.nearer_step_bytes, entry_bytes);
    if (tlb.nearer_step_bytes > 0) {
      tlb.nearer_pages = tlb.level.overflowing_bytes / tlb.nearer_step_bytes;
    }
  }
  const std::string reason = fmt::format("no further rise of the cost of a translation up to {}",
                                         as_text(walks.back().span_bytes));
  for (std::size_t i = levels.size(); i < level_names.size(); ++i) {
    report_missing_level(run, level_names[i], reason);
  }
  report_page(run, granules);
  const std::uint64_t window_step_bytes = std::max<std::uint64_t>(tlb.nearer_step_bytes, 2_MiB);
  report_window(run, setup, window_step_bytes);
}

}  // namespace sonde
