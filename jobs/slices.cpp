// Job `slices`: which lines of a page lie in which slice of the L2, by what function, and how far
// each slice is from each SM. Method: docs/methods/slices.md.
#include "analysis/statistics.hpp"
#include "analysis/structure/index/slice_function.hpp"
#include "base/gpu_facts.hpp"
#include "jobs/run/attempt.hpp"
#include "jobs/slices/page_slices.hpp"
#include "jobs/slices/slice_map.hpp"
#include "jobs/slices/slice_sets.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <string>
#include <utility>

namespace sonde {
namespace {

/// Each at another place, by another SM: they must agree on the function.
constexpr std::size_t page_count = 3;
/// Latencies of a map are means over a dozen windows of whole cycles: differences below this are
/// noise.
constexpr double map_noise_cycles = 1;
/// A page must have many lines of every slice.
constexpr std::uint64_t least_lines = 1024;

struct Page {
  PageSlices labels;
  SliceFunction function;
};

/// What address bits above a page add may make two orders alike when turned round: then the mask
/// that chooses one is not seen in this page, but it is the same in all.
void refit_with_mask(std::vector<Page>& pages, std::uint64_t line_bytes) {
  std::uint64_t mask = 0;
  for (const Page& page : pages) mask = std::max(mask, page.function.choosing_mask);
  for (Page& page : pages) {
    if (mask == 0 || page.function.is_known() || page.labels.slices.slices == 0) continue;
    page.function = fit_slice_function(page.labels.slices.labels, line_bytes, mask);
  }
}

std::vector<Page> label_pages(JobRun& run, std::uint64_t line_bytes) {
  std::vector<Page> pages;
  for (std::size_t number = 0; number < page_count; ++number) {
    const Draw draw = draw_replicate(run, "slices", number);
    Page page{.labels = label_page(run, draw, line_bytes), .function = {}};
    if (page.labels.slices.slices > 0) {
      page.function = fit_slice_function(page.labels.slices.labels, line_bytes);
    }
    pages.push_back(std::move(page));
    if (pages.back().labels.slices.slices == 0) break;  // nor would the next page show any
  }
  refit_with_mask(pages, line_bytes);
  return pages;
}

bool agree(const std::vector<Page>& pages) {
  return pages.size() == page_count && std::ranges::all_of(pages, [&](const Page& page) {
           return page.labels.slices.slices == pages.front().labels.slices.slices;
         });
}

/// Lines with a slice, of those of all pages.
double known_share(const std::vector<Page>& pages) {
  double known = 0;
  double all = 0;
  for (const Page& page : pages) {
    const std::vector<std::uint32_t>& labels = page.labels.slices.labels;
    known += static_cast<double>(labels.size()) -
             static_cast<double>(std::ranges::count(labels, unknown_slice));
    all += static_cast<double>(labels.size());
  }
  return known / all;
}

void report_count(JobRun& run, const std::vector<Page>& pages) {
  std::vector<double> waits;
  for (const Page& page : pages) waits.push_back(page.labels.slices.wait_cycles);
  const auto lines = pages.size() * pages.front().labels.slices.labels.size();
  run.report(found("cache.l2.slices", static_cast<double>(pages.front().labels.slices.slices),
                   known_share(pages), lines),
             fmt::format("{} pages, the first one asked by SM {} beside {} others", pages.size(),
                         pages.front().labels.prober, pages.front().labels.co_runners));
  run.report(found("cache.l2.slice_wait_cycles", median(waits), 1, waits.size()));
}

void report_function(JobRun& run, const std::vector<Page>& pages) {
  std::size_t explained = 0;
  std::size_t known = 0;
  for (const Page& page : pages) {
    if (!page.function.is_known()) {
      return run.report(not_resolvable("cache.l2.slice_function", page.function.reason));
    }
    if (describe(page.function) != describe(pages.front().function)) {
      return run.report(
          not_resolvable("cache.l2.slice_function",
                         fmt::format("pages disagree: {}; {}", describe(pages.front().function),
                                     describe(page.function))));
    }
    explained += page.function.explained_lines;
    known += page.function.known_lines;
  }
  run.report(found("cache.l2.slice_function", describe(pages.front().function),
                   static_cast<double>(explained) / static_cast<double>(known), known),
             fmt::format("of {} lines, {} do not follow it", known, known - explained));
}

/// Which slices and SMs lie on which of two sides of the chip, and how far those are apart.
void report_sides(JobRun& run, const SliceMap& map) {
  if (map.sides.side_of_row.empty()) {
    const std::string reason = "all slices are as near, but for what each SM and each slice adds";
    run.report(not_present("cache.l2.side_slices", reason));
    run.report(not_present("cache.l2.far_side_cycles", reason));
    return run.report(not_present("placement.side_of_sm", reason));
  }
  std::vector<double> slices(2);
  for (const int side : map.sides.side_of_column) ++slices[static_cast<std::size_t>(side)];
  const std::vector<int>& sms = map.sides.side_of_row;
  run.report(found("cache.l2.side_slices", std::move(slices), 1, map.samples));
  run.report(found("cache.l2.far_side_cycles", map.sides.far_cycles, 1, map.samples));
  run.report(
      found("placement.side_of_sm", std::vector<double>(sms.begin(), sms.end()), 1, map.samples));
}

void report_map(JobRun& run, const SliceMap& map) {
  const AdditiveFit& fit = map.fit;
  std::vector<double> latencies = fit.column_cycles;
  for (double& cycles : latencies) cycles += fit.mean_cycles;
  std::vector<double> by_sm = fit.row_cycles;
  for (double& cycles : by_sm) cycles += fit.mean_cycles;
  run.report(
      found("placement.l2_slices_cycles", std::move(by_sm), 1, map.samples, fit.residual_cycles));
  const auto slowest = find_high_outlier(latencies, map_noise_cycles);
  run.report(found("cache.l2.slice_latency_cycles", std::move(latencies), 1, map.samples,
                   fit.residual_cycles));
  run.report(found("cache.l2.slice_fit_r2", fit.r2, 1, map.samples),
             fmt::format("the shares of an SM, a slice and the side leave {:.1f} cycles",
                         fit.residual_cycles));
  if (!slowest) {
    return run.report_rest("cache.l2.slowest_slice", Status::not_present,
                           "no slice stands out from the others");
  }
  run.report(
      found("cache.l2.slowest_slice", static_cast<double>(slowest->place), 0.999, map.samples),
      fmt::format("{:+.1f} cycles over the median slice, {:.1f} robust standard deviations",
                  slowest->excess, slowest->score));
}

}  // namespace

void run_slices(JobRun& run) {
  const double line_bytes = run.number("cache.l2.line_bytes").value_or(common_line_bytes);
  const auto line = static_cast<std::uint64_t>(line_bytes);
  if (!std::has_single_bit(line) || large_page_bytes / line < least_lines) {
    return run.leave_open("", fmt::format("a page has too few lines of {} bytes", line));
  }
  std::vector<Page> pages;
  if (!measure_part(run, {""}, [&] { pages = label_pages(run, line); })) return;
  const SliceLabels& last = pages.back().labels.slices;
  if (last.slices == 0) return run.leave_open("", last.reason);
  if (!agree(pages)) {
    return run.leave_open(
        "cache.l2.", fmt::format("pages disagree: {} and {} groups of lines that wait together",
                                 pages.front().labels.slices.slices, last.slices));
  }
  report_count(run, pages);
  report_function(run, pages);
  const SliceMap map =
      map_slices(run, draw_replicate(run, "slices", 0), pages.front().labels.slices, line,
                 pages.front().function.choosing_mask);
  report_sides(run, map);
  report_map(run, map);
  report_slice_sets(run, measure_slice_sets(run, pages.front().labels, line), line);
}

}  // namespace sonde
