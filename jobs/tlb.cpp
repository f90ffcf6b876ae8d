// Job `tlb`: levels of the translation look-aside buffer and their structure, the page, and the
// page-table window that is active at a time. Method: docs/methods/tlb.md.
#include "analysis/statistics.hpp"
#include "base/gpu_facts.hpp"
#include "jobs/tlb/kept_pages.hpp"
#include "jobs/tlb/levels.hpp"
#include "jobs/tlb/texture.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>

namespace sonde {
namespace {

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

/// Pages whose first access costs clearly more than that of others, at regular distances.
void report_page_table_window(const PageChaseSetup& setup, std::uint64_t page_step_bytes) {
  constexpr double largest_share = 0.3;  // page-table windows of four entries, 128 MiB of 32
  constexpr double least_agreement = 0.9;
  constexpr std::size_t least_distances = 3;  // two slow pages are at some distance by chance
  const std::uint64_t span_bytes = std::min(setup.limit_bytes, page_tables_span_bytes);
  const std::vector<double> cold = measure_cold_pages(setup, span_bytes, page_step_bytes);
  JobRun& run = setup.run;
  const double usual_cycles = median(cold);
  const double gap_cycles = std::max(8 * median_absolute_deviation(cold), usual_cycles / 32);
  std::vector<bool> switches(cold.size());
  for (std::size_t i = 1; i < cold.size(); ++i) switches[i] = cold[i] > usual_cycles + gap_cycles;
  const auto count = static_cast<double>(count_set(switches));
  const auto distance = miss_distance(switches, page_step_bytes);
  const std::string seen = fmt::format("first accesses to {} of {}", format_bytes(page_step_bytes),
                                       format_bytes(span_bytes));
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
  PageChaseSetup setup = set_up_page_chases(run);
  setup.most_pages = pages_kept_by_l2(setup);
  const std::vector<PageChaseCosts> chases = measure_growing_chases(setup);
  TlbLevels levels = find_levels(setup, chases, level_names.size());
  characterize_tlb_levels(setup, chases, level_names, levels);
  report_page(run, levels.granularities);
  report_page_table_window(setup, std::max(levels.largest_entry_bytes, large_page_bytes));
  report_texture_tlbs(setup, levels);
}

}  // namespace sonde
