// Job `slices`: which lines of a page lie in which slice of the L2, by which function, and the
// latency of each slice from each SM. Method: docs/methods/slices.md.

#include "analysis/statistics.hpp"
#include "analysis/structure/cores/slow_units.hpp"
#include "analysis/structure/index/remainder_hash.hpp"
#include "analysis/structure/index/slice_function.hpp"
#include "analysis/structure/index/slice_labels.hpp"
#include "analysis/structure/latency/two_sides.hpp"
#include "base/gpu_facts.hpp"
#include "base/random.hpp"
#include "jobs/chase/pointer_chase.hpp"
#include "jobs/run/attempt.hpp"
#include "jobs/run/clock_window.hpp"
#include "jobs/run/replicates.hpp"
#include "jobs/slices/page_slices.hpp"
#include "jobs/slices/slice_sets.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <numeric>
#include <utility>

namespace sonde {
namespace {

/// Latencies by SM and slice as a sum: the mean, a share of the SM, a share of the slice, and an
/// addition if they lie on different sides of the chip.
struct SliceMap {
  TwoSides sides;
  AdditiveFit fit;  // of the latencies without the far side; r2 includes it
  std::uint64_t samples = 0;
};

constexpr std::size_t lines_of_parity = 4;  // per slice

/// Random lines of each slice, equally many of either parity under the mask.
std::vector<std::vector<std::uint64_t>> draw_lines(const SliceLabels& labels, std::uint64_t mask,
                                                   std::uint64_t seed) {
  std::vector<std::uint64_t> order(labels.labels.size());
  std::iota(order.begin(), order.end(), std::uint64_t{0});
  Random random(seed);
  shuffle(order, random);
  std::vector<std::array<std::size_t, 2>> taken(labels.slices);
  std::vector<std::vector<std::uint64_t>> lines(labels.slices);
  const std::size_t most = mask == 0 ? 2 * lines_of_parity : lines_of_parity;
  for (const std::uint64_t line : order) {
    const std::uint32_t slice = labels.labels[line];
    if (slice == unknown_slice) continue;
    std::size_t& count = taken[slice][std::popcount(line & mask) % 2];
    if (count == most) continue;
    ++count;
    lines[slice].push_back(line);
  }
  return lines;
}

/// Latencies of L2 hits on lines past the L1: [SM][line].
std::vector<std::vector<double>> time_hits(JobRun& run, const Draw& draw, const Offsets& offsets) {
  const ChaseSetup setup = set_up_chase(run, LoadPath::past_l1, RecordSpace::longest);
  ChaseProbe probe;
  probe.buffer_bytes = large_page_bytes;
  probe.place = draw.place;
  probe.warmup_accesses = 2 * offsets.size();
  probe.timed_accesses = probe.recorded_accesses = 3 * offsets.size();
  probe.concurrency = Concurrency::in_turn;
  probe.shared_carveout_bytes = setup.shared_carveout_bytes;
  probe.lanes = lanes_of_all_sms(run, LoadPath::past_l1, offsets);
  const Trace& trace = run.run("slices: L2 hits by SM and slice", probe);
  std::vector<std::vector<double>> hits;
  for (const LaneTrace& lane : trace.lanes) {
    hits.push_back(position_medians({offsets.size(), latencies_of(lane, setup.overhead_cycles)}));
  }
  return hits;
}

/// Times some lines of every slice on all SMs, half of them with odd parity under the mask: in a
/// divided L2 one half may be copies of lines of the other partition, which are slower.
/// @param mask of the offset in bytes; 0: any lines
SliceMap map_slices(JobRun& run, const Draw& draw, const SliceLabels& labels,
                    std::uint64_t line_bytes, std::uint64_t mask) {
  const std::uint32_t slices = labels.slices;
  const auto lines = draw_lines(labels, mask / line_bytes, draw.seed);
  Offsets offsets;
  for (const auto& of_slice : lines) {
    for (const std::uint64_t line : of_slice) offsets.push_back(line * line_bytes);
  }
  const auto hits = time_hits(run, draw, offsets);
  std::vector<std::vector<double>> map;
  for (const auto& of_sm : hits) {
    std::vector<double>& row = map.emplace_back(slices);
    std::size_t at = 0;
    for (std::uint32_t slice = 0; slice < slices; ++slice) {
      for (std::size_t i = 0; i < lines[slice].size(); ++i) {
        row[slice] += of_sm[at++] / static_cast<double>(lines[slice].size());
      }
    }
  }
  SliceMap result{.sides = find_two_sides(map), .fit = {}};
  const double all = fit_additive(map).variance;
  for (std::size_t sm = 0; sm < map.size() && !result.sides.side_of_row.empty(); ++sm) {
    for (std::size_t slice = 0; slice < slices; ++slice) {
      if (result.sides.side_of_row[sm] == result.sides.side_of_column[slice]) continue;
      map[sm][slice] -= result.sides.far_cycles;
    }
  }
  result.fit = fit_additive(map);
  if (all > 0) result.fit.r2 = 1 - std::pow(result.fit.residual_cycles, 2) / all;
  result.samples = map.size() * slices;
  return result;
}

/// Each at another place, timed by another SM; they must agree on the function.
constexpr std::size_t page_count = 3;
/// Latencies of a map are means of a dozen windows of whole cycles; smaller differences are noise.
constexpr double map_noise_cycles = 1;
/// A page must have many lines of every slice.
constexpr std::uint64_t least_lines = 1024;

struct Page {
  PageSlices labels;
  SliceFunction function;
};

/// Address bits above a page may make the two orders of slices in a page look alike. Then the page
/// does not show the mask that chooses the order; the mask of another page is used.
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
    if (pages.back().labels.slices.slices == 0) break;  // the next page would show none, either
  }
  refit_with_mask(pages, line_bytes);
  return pages;
}

bool agree(const std::vector<Page>& pages) {
  return pages.size() == page_count && std::ranges::all_of(pages, [&](const Page& page) {
           return page.labels.slices.slices == pages.front().labels.slices.slices;
         });
}

/// Share of the lines of all pages whose slice is known.
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
  run.report(
      found("cache.l2.slices", static_cast<double>(pages.front().labels.slices.slices),
            known_share(pages), lines),
      fmt::format("{} pages, the first one measured by SM {} while {} other SMs made reductions",
                  pages.size(), pages.front().labels.prober, pages.front().labels.co_runners));
  run.report("cache.l2.slice_wait_cycles", median(waits), waits.size());
}

void report_function(JobRun& run, const std::vector<Page>& pages) {
  std::size_t explained = 0;
  std::size_t known = 0;
  for (const Page& page : pages) {
    if (!page.function.is_known()) {
      return run.leave_open("cache.l2.slice_function", page.function.reason);
    }
    if (describe(page.function) != describe(pages.front().function)) {
      return run.leave_open("cache.l2.slice_function",
                            fmt::format("pages disagree: {}; {}", describe(pages.front().function),
                                        describe(page.function)));
    }
    explained += page.function.explained_lines;
    known += page.function.known_lines;
  }
  run.report(found("cache.l2.slice_function", describe(pages.front().function),
                   static_cast<double>(explained) / static_cast<double>(known), known),
             fmt::format("of {} lines, {} contradict it", known, known - explained));
}

/// Reports which slices and SMs lie on which side of the chip, and what the far side costs.
void report_sides(JobRun& run, const SliceMap& map) {
  if (map.sides.side_of_row.empty()) {
    for (const char* prefix : {"cache.l2.side_", "cache.l2.far_side_", "placement.side_"}) {
      run.report_rest(prefix, Status::not_present,
                      "no second side: latencies are explained by SM and slice alone");
    }
    return;
  }
  std::vector<int> slices(2);
  for (const int side : map.sides.side_of_column) ++slices[static_cast<std::size_t>(side)];
  run.report("cache.l2.side_slices", slices, map.samples);
  run.report("cache.l2.far_side_cycles", map.sides.far_cycles, map.samples);
  run.report("placement.side_of_sm", map.sides.side_of_row, map.samples);
}

void report_map(JobRun& run, const SliceMap& map) {
  const AdditiveFit& fit = map.fit;
  std::vector<double> latencies = fit.column_cycles;
  for (double& cycles : latencies) cycles += fit.mean_cycles;
  std::vector<double> by_sm = fit.row_cycles;
  for (double& cycles : by_sm) cycles += fit.mean_cycles;
  run.report(
      found("placement.l2_slices_cycles", std::move(by_sm), 1, map.samples, fit.residual_cycles));
  const std::vector<SlowUnit> slow = find_slow_units(
      {.what = "hits", .unit = "cycles", .floor = map_noise_cycles, .values = latencies});
  run.report(found("cache.l2.slice_latency_cycles", std::move(latencies), 1, map.samples,
                   fit.residual_cycles));
  run.report(
      found("cache.l2.slice_fit_r2", fit.r2, 1, map.samples),
      fmt::format("SM, slice and side leave {:.1f} cycles unexplained", fit.residual_cycles));
  if (slow.empty()) {
    return run.report(not_present("cache.l2.slowest_slice", "no slice stands out from the others"));
  }
  const SlowUnit& slowest = slow.front();
  run.report(found("cache.l2.slowest_slice", static_cast<double>(slowest.number),
                   slowest.confidence, map.samples),
             describe_slow_unit(slowest));
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
        "cache.l2.", fmt::format("pages disagree: {} and {} groups of lines that share a queue",
                                 pages.front().labels.slices.slices, last.slices));
  }
  report_count(run, pages);
  report_function(run, pages);
  const SliceMap map =
      map_slices(run, draw_replicate(run, "slices", 0), pages.front().labels.slices, line,
                 pages.front().function.choosing_mask);
  report_sides(run, map);
  report_map(run, map);
  report_slice_sets(run, pages.front().labels, line);
}

}  // namespace sonde
