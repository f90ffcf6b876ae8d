// One pass over each page beside co-runners finds the lines that may wait; those few are asked
// again, with and without the co-runners.
#include "jobs/slices/slice_lines.hpp"

#include "analysis/statistics.hpp"
#include "analysis/structure/index/slice_labels.hpp"
#include "base/gpu_facts.hpp"

#include <algorithm>

namespace sonde {
namespace {

/// What the first page tells of the lines that wait, and of those near to the prober.
struct SliceOfLine {
  std::uint64_t own_bytes = 0;   // the line of the reductions
  double slowest_alone = 0;      // of nearly all lines
  double wait_cycles = 0;        // lines of the slice wait longer, others do not
  double near_below_cycles = 0;  // lines that are faster are at home in the near partition
  bool is_clear = false;
};

/// Between the least wait of lines that wait and the longest of the others.
double wait_between(const WaitingLines& waiting, const std::vector<double>& alone,
                    const std::vector<double>& contended) {
  std::vector<double> waits;
  std::vector<double> others;
  for (std::size_t i = 0; i < alone.size(); ++i) {
    (waiting.waits[i] ? waits : others).push_back(contended[i] - alone[i]);
  }
  // Single lines on the wrong side of the cut are outliers.
  constexpr double outliers = 0.01;
  return (quantile(waits, outliers) + quantile(others, 1 - outliers)) / 2;
}

SliceOfLine look_at_first_page(JobRun& run, PageChase& chase, std::uint64_t line_bytes) {
  constexpr double nearly_all = 0.999;
  const Lines lines = lines_of_page(0, line_bytes);
  const std::vector<double> alone = chase.latencies_alone(lines);
  // The fastest line is at home in the near partition: only lines of one slice wait with it.
  const auto own = static_cast<std::size_t>(std::ranges::min_element(alone) - alone.begin());
  const std::vector<double> contended = chase.contended_latencies(lines, lines[own]);
  const WaitingLines waiting = find_waiting_lines(alone, contended, own);
  SliceOfLine slice{.own_bytes = lines[own],
                    .slowest_alone = quantile(alone, nearly_all),
                    .is_clear = waiting.is_clear};
  if (!slice.is_clear) return slice;
  slice.wait_cycles = wait_between(waiting, alone, contended);
  slice.near_below_cycles = slice.slowest_alone + slice.wait_cycles;
  const auto near = run.number("cache.l2.atomic_near_cycles");
  const auto far = run.number("cache.l2.atomic_far_cycles");
  if (near && far) slice.near_below_cycles = (*near + *far) / 2;
  return slice;
}

/// Of the lines of a page those that are as slow beside co-runners as only lines that wait are.
Lines lines_that_may_wait(PageChase& chase, const SliceOfLine& slice, const Lines& lines) {
  const std::vector<double> contended = chase.contended_latencies(lines, slice.own_bytes, 1);
  Lines slow;
  for (std::size_t i = 0; i < lines.size(); ++i) {
    const bool far_above = contended[i] > slice.slowest_alone + slice.wait_cycles / 2;
    if (far_above) slow.push_back(lines[i]);
  }
  return slow;
}

}  // namespace

SliceLines collect_slice_lines(JobRun& run, const Draw& draw, std::uint64_t line_bytes,
                               const std::vector<int>& co_runners, std::uint64_t pages) {
  SliceLines found{
      .offsets = {}, .pages = pages, .buffer_bytes = (pages + 1) * large_page_bytes, .reason = {}};
  PageChase chase(run, draw, found.buffer_bytes);
  chase.set_co_runner_sms(co_runners);
  const SliceOfLine slice = look_at_first_page(run, chase, line_bytes);
  if (!slice.is_clear) {
    found.reason = "reductions on a line made others wait in three pages, but not in one more";
    return found;
  }
  for (std::uint64_t page = 1; page <= pages; ++page) {
    const Lines slow =
        lines_that_may_wait(chase, slice, lines_of_page(page * large_page_bytes, line_bytes));
    if (slow.empty()) continue;
    const std::vector<double> alone = chase.latencies_alone(slow);
    const std::vector<double> contended = chase.contended_latencies(slow, slice.own_bytes);
    for (std::size_t i = 0; i < slow.size(); ++i) {
      const bool waits = contended[i] - alone[i] > slice.wait_cycles;
      if (waits && alone[i] < slice.near_below_cycles) found.offsets.push_back(slow[i]);
    }
  }
  return found;
}

}  // namespace sonde
