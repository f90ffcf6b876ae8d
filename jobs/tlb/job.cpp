// Job `tlb`: levels of the translation look-aside buffer and their structure, the page, and the
// page-table window that is active at a time. Method: docs/methods/tlb.md.

#include "analysis/statistics.hpp"
#include "analysis/structure/latency/latency_classes.hpp"
#include "base/gpu_facts.hpp"
#include "jobs/run/attempt.hpp"
#include "jobs/tlb/page_chase.hpp"
#include "jobs/tlb/parts.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <bit>

namespace sonde {
namespace {

// A page has two lines: the access to the one brings the translation, so that the pair of accesses
// to the other, next in the list, shows only whether that line was lost.

/// Share of `lines` that the L2 loses in a steady chase, two of each page.
double lost_share(const PageChaseSetup& setup, std::uint64_t lines, std::uint64_t step_bytes) {
  const std::uint64_t pages = lines / 2;
  const PageSpread spread = spread_pages(step_bytes, widest_spread_bytes);
  std::vector<std::size_t> firsts(pages);
  for (std::size_t page = 0; page < pages; ++page) firsts[page] = 3 * page + 1;
  const auto costs = measure_costs(
      setup, fmt::format("tlb {} lines kept step {}", lines, step_bytes),
      {.most = LinesTried::fewest}, firsts, [&](std::uint64_t shift) {
        ChasePlan plan{.warmup_passes = 2, .passes = 1, .evidence = Evidence::of_a_search};
        for (std::uint64_t page = 0; page < pages; ++page) {
          // Halves of the smallest page, from the upper to the lower one: no prefetcher runs ahead.
          const std::uint64_t lower = page_line(spread, page, shift) & ~(smallest_page_bytes / 2);
          plan.offsets.push_back(lower + smallest_page_bytes / 2);
          plan.offsets.insert(plan.offsets.end(), 2, lower);
        }
        return plan;
      });
  return fraction_above({costs.size(), costs}, least_memory_gap_cycles);
}

/// The largest part of `setup.kept_pages`, halved again and again, of which chases lose hardly a
/// line even where they are twice as many. Whatever size and policy the L2 has: chases with every
/// translation at hand are asked.
std::uint64_t pages_kept_by_l2(const PageChaseSetup& setup) {
  constexpr double most_lost_share = 0.004;  // fewer make no level
  for (std::uint64_t lines = 2 * setup.kept_pages; lines > fewest_pages; lines /= 2) {
    bool keeps_all = true;
    const auto ask = [&](std::uint64_t span_bytes) {
      const std::uint64_t step_bytes = std::bit_floor(2 * span_bytes / lines);
      if (!keeps_all || step_bytes < widest_spread_bytes) return;
      keeps_all = lost_share(setup, lines, step_bytes) <= most_lost_share;
    };
    ask(lines * widest_spread_bytes);
    // A device that cannot give so much memory says nothing.
    refusal_of([&] { ask(setup.limit_bytes); });
    if (keeps_all) return std::max(fewest_pages, lines / 2);
  }
  return fewest_pages;
}

constexpr std::array level_names{"tlb.l1", "tlb.l2", "tlb.l3"};
// Page tables of 512 MB are active at a time on Kepler and Maxwell (Mei and Chu 2016): eight of
// them, if there is memory, show the distance between switches.
constexpr std::uint64_t page_tables_span_bytes = 4_GiB;

void report_page(JobRun& run, const std::vector<BlockSize>& granularities) {
  if (granularities.empty()) {
    return run.report(not_resolvable("tlb.page_bytes", "no translation ever cost anything"));
  }
  const auto smallest = std::ranges::min_element(granularities, {}, &BlockSize::bytes);
  if (smallest->bytes > large_page_bytes) {
    return run.report(not_resolvable(
        "tlb.page_bytes",
        fmt::format("an entry covers {}, several neighbouring pages: none is seen alone",
                    format_bytes(smallest->bytes))));
  }
  run.report(found("tlb.page_bytes", static_cast<double>(smallest->bytes), smallest->agreement,
                   smallest->observations));
}

/// Whether the soonest of first accesses takes hardly less than nearly all others: none was at
/// hand.
/// @param share of those that are no switches of page-table windows
bool take_as_long(const std::vector<double>& cycles, double share) {
  constexpr double most_spread = 1.0 / 8;
  const double usual_cycles = median(cycles);
  return quantile(cycles, share) - std::ranges::min(cycles) <= most_spread * usual_cycles;
}

/// Whether a tenth of the first accesses takes so much longer than another tenth that switches
/// would not stand out: page tables that are at hand in part, or pages in several partitions.
bool differ_by_themselves(const std::vector<double>& cycles) {
  constexpr double most_spread = 1.0 / 16;
  return quantile(cycles, 0.9) - quantile(cycles, 0.1) > most_spread * median(cycles);
}

/// @param all_are_new whether each first access was to a page that no other one had brought along
void report_no_window(JobRun& run, const std::vector<double>& cold_cycles, bool all_are_new,
                      const std::string& seen) {
  constexpr const char* metric = "tlb.page_window_bytes";
  if (differ_by_themselves(cold_cycles)) {
    return run.report(not_resolvable(
        metric, seen + ", but they differ by more than a switch between windows may cost"));
  }
  if (all_are_new) return run.report(not_present(metric, seen));
  run.report(not_resolvable(metric, seen + ", and how much an entry covers is not known"));
}

/// Pages whose first access costs clearly more than that of others, at regular distances. None is
/// there only where each page asked for is known to be a new one, or all take as long.
void report_page_table_window(const PageChaseSetup& setup, const TlbLevels& levels) {
  constexpr double largest_share = 0.3;  // page-table windows of four entries, 128 MiB of 32
  constexpr double least_agreement = 0.9;
  // Page-table windows of four entries; pages are shorter (2 MiB for most of what runs today).
  constexpr std::uint64_t least_window_bytes = 128_MiB;
  constexpr std::size_t least_distances = 3;  // two slow pages are at some distance by chance
  // Where what an entry covers is not known: four steps make the smallest window, and if entries
  // are larger, some pages are at hand and take far less.
  constexpr std::uint64_t widest_step_bytes = least_window_bytes / 4;
  const Finding* reach = setup.run.answer("tlb.l1.reach_bytes");
  const bool has_tlb = reach == nullptr || reach->status != Status::not_present;
  const bool knows_entries = levels.knows_entries() || !has_tlb;
  const std::uint64_t page_step_bytes =
      std::max(levels.largest_entry_bytes, knows_entries ? large_page_bytes : widest_step_bytes);
  const std::uint64_t span_bytes = std::min(setup.limit_bytes, page_tables_span_bytes);
  const std::vector<double> cold = measure_cold_pages(setup, span_bytes, page_step_bytes);
  JobRun& run = setup.run;
  const double usual_cycles = median(cold);
  const double gap_cycles = std::max(8 * median_absolute_deviation(cold), usual_cycles / 32);
  std::vector<bool> switches(cold.size());
  for (std::size_t i = 1; i < cold.size(); ++i) switches[i] = cold[i] > usual_cycles + gap_cycles;
  const bool all_are_new = knows_entries || take_as_long(cold, 1 - largest_share);
  const std::size_t count = count_set(switches);
  const auto distance = miss_distance(switches, page_step_bytes);
  const std::string seen = fmt::format("first accesses to {} of {}", format_bytes(page_step_bytes),
                                       format_bytes(span_bytes));
  const auto report_none = [&](const std::string& reason) {
    report_no_window(run, cold, all_are_new, seen + reason);
  };
  const auto leave_open = [&](const std::string& reason) {
    run.report(not_resolvable("tlb.page_window_bytes",
                              fmt::format("{}: {} slower ones{}", seen, count, reason)));
  };
  if (count == 0) return report_none(": none at regular distances is slower");
  if (static_cast<double>(count) > largest_share * static_cast<double>(cold.size()))
    return leave_open(", more than windows of four would have");
  if (!distance) return report_none(": one slower one");
  if (distance->observations < least_distances) {
    const bool would_repeat = 2 * distance->observations * distance->bytes < span_bytes;
    if (!would_repeat) return leave_open(", too few to repeat");
    return report_none(
        fmt::format(": {} slower ones, and none as far from them as they are apart", count));
  }
  if (distance->agreement < least_agreement) return leave_open(", not at one distance");
  if (distance->bytes < least_window_bytes) {
    return run.report(not_resolvable(
        "tlb.page_window_bytes", fmt::format("{}: slower ones every {}, which may be pages", seen,
                                             format_bytes(distance->bytes))));
  }
  run.report(found("tlb.page_window_bytes", static_cast<double>(distance->bytes),
                   distance->agreement, distance->observations));
}

}  // namespace

void run_tlb(JobRun& run) {
  PageChaseSetup setup = set_up_page_chases(run);
  setup.kept_pages = pages_kept_by_l2(setup);
  setup.most_pages = std::max(setup.kept_pages, overfilling_pages);
  const std::vector<PageChaseCosts> chases = measure_growing_chases(setup);
  const TlbLevels levels = characterize_tlb_levels(setup, chases, level_names);
  report_page(run, levels.granularities);
  report_page_table_window(setup, levels);
  report_texture_tlbs(setup, levels);
}

}  // namespace sonde
