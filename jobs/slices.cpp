// Job `slices`: which lines of a page lie in which slice of the L2, by what function, and how far
// each slice is from each SM. Method: docs/methods/slices.md.
#include "analysis/statistics.hpp"
#include "analysis/structure/index/slice_function.hpp"
#include "analysis/structure/latency/additive_map.hpp"
#include "base/gpu_facts.hpp"
#include "jobs/run/attempt.hpp"
#include "jobs/slices/page_slices.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <string>
#include <utility>

namespace sonde {
namespace {

/// Each at another place, by another SM: they must agree on the function.
constexpr std::size_t page_count = 3;
constexpr std::size_t lines_of_slice = 4;  // in the map
constexpr std::uint64_t map_passes = 3;
/// Latencies of a map are means over a dozen windows of whole cycles: differences below this are
/// noise.
constexpr double map_noise_cycles = 1;
/// A page must have many lines of every slice.
constexpr std::uint64_t least_lines = 1024;

struct Page {
  PageSlices labels;
  SliceFunction function;
};

std::vector<Page> label_pages(JobRun& run, std::uint64_t line_bytes) {
  const std::vector<double> gpc_of_sm =
      run.vector("topology.gpc_of_sm").value_or(std::vector<double>{});
  std::vector<Page> pages;
  for (std::size_t number = 0; number < page_count; ++number) {
    const Draw draw = draw_replicate(run, "slices", number);
    Page page{.labels = label_page(run, draw, line_bytes, gpc_of_sm), .function = {}};
    if (page.labels.slices.slices > 0) {
      page.function = fit_slice_function(page.labels.slices.labels, line_bytes);
    }
    pages.push_back(std::move(page));
    if (pages.back().labels.slices.slices == 0) break;  // nor would the next page show any
  }
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

/// Some lines of each slice, slice after slice.
Offsets lines_of_slices(const SliceLabels& slices, std::uint64_t line_bytes) {
  std::vector<Offsets> by_slice(slices.slices);
  for (std::size_t line = 0; line < slices.labels.size(); ++line) {
    if (slices.labels[line] != unknown_slice) {
      by_slice[slices.labels[line]].push_back(line * line_bytes);
    }
  }
  Offsets offsets;
  for (const Offsets& lines : by_slice) {
    for (std::size_t i = 0; i < lines_of_slice; ++i) {
      offsets.push_back(lines[i * lines.size() / lines_of_slice]);
    }
  }
  return offsets;
}

/// L2 hits by SM and slice, one SM at a time.
std::vector<std::vector<double>> measure_map(JobRun& run, const PageSlices& page,
                                             std::uint64_t line_bytes) {
  const Offsets offsets = lines_of_slices(page.slices, line_bytes);
  const ChaseSetup setup = set_up_chase(run, LoadPath::past_l1, RecordSpace::longest);
  ChaseProbe probe;
  probe.buffer_bytes = large_page_bytes;
  probe.place = draw_replicate(run, "slices", 0).place;
  probe.warmup_accesses = 2 * offsets.size();
  probe.timed_accesses = probe.recorded_accesses = map_passes * offsets.size();
  probe.concurrency = Concurrency::in_turn;
  probe.shared_carveout_bytes = setup.shared_carveout_bytes;
  for (int sm = 0; sm < run.info().sm_count; ++sm) {
    probe.lanes.push_back({.sm = sm, .offsets_bytes = offsets, .path = LoadPath::past_l1});
  }
  const Trace& trace = run.run("slices: L2 hits by SM and slice", probe);
  std::vector<std::vector<double>> map;
  for (const LaneTrace& lane : trace.lanes) {
    std::vector<double>& row = map.emplace_back(page.slices.slices);
    for (std::size_t i = 0; i < offsets.size(); ++i) {
      std::vector<double> windows;
      for (std::size_t at = i; at < lane.window_cycles.size(); at += offsets.size()) {
        windows.push_back(lane.window_cycles[at] - setup.overhead_cycles);
      }
      row[i / lines_of_slice] += median(std::move(windows)) / lines_of_slice;
    }
  }
  return map;
}

/// Slices have the numbers of the remainders of the first page, or of its labels.
void report_map(JobRun& run, const Page& page, std::uint64_t line_bytes) {
  const auto map = measure_map(run, page.labels, line_bytes);
  const AdditiveFit fit = fit_additive(map);
  const std::uint64_t samples = map.size() * map.front().size();
  std::vector<double> latencies = fit.column_cycles;
  for (double& cycles : latencies) cycles += fit.mean_cycles;
  if (page.function.is_known()) {
    std::vector<double> by_remainder;
    for (const std::uint32_t label : page.function.orders.front()) {
      by_remainder.push_back(latencies[label]);
    }
    latencies = std::move(by_remainder);
  }
  std::vector<double> by_sm = fit.row_cycles;
  for (double& cycles : by_sm) cycles += fit.mean_cycles;
  run.report(
      found("placement.l2_slices_cycles", std::move(by_sm), 1, samples, fit.residual_cycles));
  const auto slowest = find_high_outlier(latencies, map_noise_cycles);
  run.report(found("cache.l2.slice_latency_cycles", std::move(latencies), 1, samples,
                   fit.residual_cycles));
  run.report(found("cache.l2.slice_fit_r2", fit.r2, 1, samples),
             fmt::format("an SM's and a slice's share leave {:.1f} cycles", fit.residual_cycles));
  if (!slowest) {
    return run.report_rest("cache.l2.slowest_slice", Status::not_present,
                           "no slice stands out from the others");
  }
  run.report(found("cache.l2.slowest_slice", static_cast<double>(slowest->place), 0.999, samples),
             fmt::format("{:+.1f} cycles over the median slice, {:.1f} robust standard deviations",
                         slowest->excess, slowest->score));
}

}  // namespace

void run_slices(JobRun& run) {
  const double line_bytes = run.number("cache.l2.line_bytes").value_or(common_line_bytes);
  const auto line = static_cast<std::uint64_t>(line_bytes);
  if (!std::has_single_bit(line) || large_page_bytes / line < least_lines) {
    return run.report_rest("", Status::not_resolvable,
                           fmt::format("a page has too few lines of {} bytes", line));
  }
  std::vector<Page> pages;
  const auto refusal = refusal_of([&] { pages = label_pages(run, line); });
  if (refusal) return run.report_rest("", Status::not_resolvable, *refusal);
  const SliceLabels& last = pages.back().labels.slices;
  if (last.slices == 0) return run.report_rest("", Status::not_resolvable, last.reason);
  if (!agree(pages)) {
    return run.report_rest(
        "cache.l2.", Status::not_resolvable,
        fmt::format("pages disagree: {} and {} groups of lines that wait together",
                    pages.front().labels.slices.slices, last.slices));
  }
  report_count(run, pages);
  report_function(run, pages);
  report_map(run, pages.front(), line);
}

}  // namespace sonde
