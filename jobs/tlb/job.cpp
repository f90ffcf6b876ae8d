// Job `tlb`: levels of the TLB and their structure, the page, and the page-table window. Method:
// docs/methods/tlb.md.

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
#include <limits>

namespace sonde {
namespace {

/// Share of `lines`, two per page, that the L2 loses in a steady chase. The access to one line of a
/// page brings the translation; a pair of accesses to the other shows if the L2 lost it.
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
          // Upper half of the smallest page first: no ascending prefetcher helps.
          const std::uint64_t lower = page_line(spread, page, shift) & ~(smallest_page_bytes / 2);
          plan.offsets.push_back(lower + smallest_page_bytes / 2);
          plan.offsets.insert(plan.offsets.end(), 2, lower);
        }
        return plan;
      });
  return fraction_above({costs.size(), costs}, least_memory_gap_cycles);
}

/// The largest number of pages, from `setup.kept_pages` in halves, for which the L2 loses almost
/// none of twice as many lines. All translations are in the TLB, so this holds for any L2.
std::uint64_t pages_kept_by_l2(const PageChaseSetup& setup) {
  constexpr double most_lost_share = 0.004;  // a smaller share makes no level
  for (std::uint64_t lines = 2 * setup.kept_pages; lines > fewest_pages; lines /= 2) {
    bool keeps_all = true;
    const auto ask = [&](std::uint64_t span_bytes) {
      const std::uint64_t step_bytes = std::bit_floor(2 * span_bytes / lines);
      if (!keeps_all || step_bytes < widest_spread_bytes) return;
      keeps_all = lost_share(setup, lines, step_bytes) <= most_lost_share;
    };
    ask(lines * widest_spread_bytes);
    // A device that cannot give this much memory says nothing.
    refusal_of([&] { ask(setup.limit_bytes); });
    if (keeps_all) return std::max(fewest_pages, lines / 2);
  }
  return fewest_pages;
}

constexpr std::array level_names{"tlb.l1", "tlb.l2", "tlb.l3"};
// Kepler and Maxwell keep page tables for 512 MB active (Mei and Chu 2016): a span of eight windows
// shows the distance between switches.
constexpr std::uint64_t page_tables_span_bytes = 4_GiB;

void report_page(JobRun& run, const std::vector<BlockSize>& granularities) {
  if (granularities.empty()) {
    return run.report(not_resolvable("tlb.page_bytes", "no access ever paid for a translation"));
  }
  const auto smallest = std::ranges::min_element(granularities, {}, &BlockSize::bytes);
  if (smallest->bytes > large_page_bytes) {
    return run.report(not_resolvable(
        "tlb.page_bytes",
        fmt::format("an entry covers {}, several neighbouring pages: a single page cannot be seen",
                    format_bytes(smallest->bytes))));
  }
  run.report(found("tlb.page_bytes", static_cast<double>(smallest->bytes), smallest->agreement,
                   smallest->observations));
}

/// Latencies of first accesses to pages after a flush: the minimum over several lines of each page,
/// as memory of the other L2 partition is slower.
std::vector<double> measure_cold_pages(const PageChaseSetup& setup, std::uint64_t span_bytes,
                                       std::uint64_t page_step_bytes) {
  constexpr std::uint64_t lines_of_page = 16;
  constexpr std::uint64_t shift = 139;  // prime to the lines of a page; spreads over all of it
  const PageSpread spread = spread_pages(page_step_bytes, widest_spread_bytes);
  std::vector<double> fastest(span_bytes / page_step_bytes,
                              std::numeric_limits<double>::infinity());
  for (std::uint64_t line = 0; line < lines_of_page; ++line) {
    ChasePlan plan{.warmup_passes = 0, .passes = 2, .preparation = Preparation::flushed};
    for (std::uint64_t page = 0; page < fastest.size(); ++page) {
      plan.offsets.push_back(page_line(spread, page, line * shift));
    }
    const auto latencies =
        position_medians(measure_chase(setup.run, setup.chase, "tlb cold pages", plan));
    for (std::size_t page = 0; page < fastest.size(); ++page) {
      fastest[page] = std::min(fastest[page], latencies[page]);
    }
  }
  return fastest;
}

/// Whether the fastest first access is hardly faster than nearly all others: then the TLB held none
/// of the pages.
/// @param share of the accesses that do not switch the page-table window
bool take_as_long(const std::vector<double>& cycles, double share) {
  constexpr double most_spread = 1.0 / 8;
  const double usual_cycles = median(cycles);
  return quantile(cycles, share) - std::ranges::min(cycles) <= most_spread * usual_cycles;
}

/// Whether a tenth of the first accesses is so much slower than another tenth that a switch would
/// not stand out, because of cached page tables or of pages in several partitions.
bool differ_by_themselves(const std::vector<double>& cycles) {
  constexpr double most_spread = 1.0 / 16;
  return quantile(cycles, 0.9) - quantile(cycles, 0.1) > most_spread * median(cycles);
}

/// Looks for pages whose first access is clearly slower, at regular distances. Their absence is
/// only reported if every access is known to need a new translation, or if all take equally long.
void report_page_table_window(const PageChaseSetup& setup, const TlbLevels& levels) {
  constexpr double largest_share = 0.3;  // a window has at least four steps: 128 MiB of 32
  constexpr double least_agreement = 0.9;
  // Four entries of 32 MiB; pages are shorter (2 MiB on most current GPUs).
  constexpr std::uint64_t least_window_bytes = 128_MiB;
  constexpr std::uint64_t least_distances = 3;  // two slow pages may be at any distance by chance
  // Used if the size of an entry is not known: the smallest window has four such steps. If entries
  // are larger, the TLB already holds some pages, which take far less time.
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
  const std::string seen = fmt::format("first accesses in steps of {} over {}",
                                       format_bytes(page_step_bytes), format_bytes(span_bytes));
  constexpr const char* metric = "tlb.page_window_bytes";
  const auto leave_open = [&](const std::string& reason) {
    run.report(not_resolvable(metric, seen + ": " + reason));
  };
  const bool are_few =
      static_cast<double>(count) <= largest_share * static_cast<double>(cold.size());
  const bool repeat = distance && distance->observations >= least_distances;
  if (are_few && repeat && distance->agreement >= least_agreement) {
    if (distance->bytes >= least_window_bytes) {
      return run.report(found(metric, static_cast<double>(distance->bytes), distance->agreement,
                              distance->observations));
    }
    return leave_open(
        fmt::format("slow accesses every {}, which may be pages", format_bytes(distance->bytes)));
  }
  const bool would_repeat = !distance || 2 * distance->observations * distance->bytes < span_bytes;
  if (!are_few || repeat || !would_repeat)
    return leave_open(fmt::format("{} slow accesses, not those of windows of four steps", count));
  const std::string none = count == 0   ? "no slow access"
                           : count == 1 ? "one slow access"
                                        : fmt::format(
                                              "{} slow accesses, which do not repeat at "
                                              "their distance",
                                              count);
  if (differ_by_themselves(cold)) {
    return leave_open(none +
                      ", but these accesses differ by more than a switch between windows may cost");
  }
  if (!all_are_new) return leave_open(none + ", and the memory under one entry is not known");
  run.report(not_present(metric, seen + ": " + none));
}

}  // namespace

void run_tlb(JobRun& run) {
  PageChaseSetup setup = set_up_page_chases(run, LoadPath::past_l1);
  setup.kept_pages = pages_kept_by_l2(setup);
  setup.most_pages = std::max(setup.kept_pages, overfilling_pages);
  const std::vector<PageChaseCosts> chases = measure_growing_chases(setup);
  const TlbLevels levels = characterize_tlb_levels(setup, chases, level_names);
  report_page(run, levels.granularities);
  report_page_table_window(setup, levels);
  report_texture_tlbs(setup, levels);
}

}  // namespace sonde
