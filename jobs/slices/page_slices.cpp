// Chases over lines of a page. The fastest pass of each line counts, so that no outlier looks like
// a wait. A few SMs of one GPC share the lines.
#include "jobs/slices/page_slices.hpp"

#include "analysis/statistics.hpp"
#include "base/gpu_facts.hpp"
#include "base/random.hpp"
#include "jobs/run/known_groups.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <limits>
#include <map>
#include <ranges>
#include <utility>

namespace sonde {
namespace {

constexpr std::uint64_t passes_alone = 3;
/// From every GPC. On an H200 one SM was too few for a queue, three were enough.
constexpr std::array co_runners_of_gpc{3, 6, 16};
/// Number of GPCs of most GPUs since 2020.
constexpr std::size_t usual_gpcs = 8;

/// `count` SMs, as far apart as possible.
std::vector<int> spread(const std::vector<int>& sms, std::size_t count) {
  if (sms.size() <= count) return sms;
  std::vector<int> chosen;
  for (std::size_t i = 0; i < count; ++i) chosen.push_back(sms[i * sms.size() / count]);
  return chosen;
}

/// The other SMs of an SM's GPC, then the SMs of each other GPC; empty if one part is not known.
std::vector<std::vector<int>> group_others(const std::vector<double>& gpc_of_sm, int sm) {
  const auto own = static_cast<std::size_t>(sm);
  if (own >= gpc_of_sm.size() || gpc_of_sm[own] < 0) return {};
  std::map<double, std::vector<int>> by_gpc{{-1, {}}};  // its own first
  for (std::size_t other = 0; other < gpc_of_sm.size(); ++other) {
    const double gpc = gpc_of_sm[other] == gpc_of_sm[own] ? -1 : gpc_of_sm[other];
    if (gpc_of_sm[other] >= 0 && other != own) by_gpc[gpc].push_back(static_cast<int>(other));
  }
  const auto groups = std::views::values(by_gpc);
  if (groups.size() < 2) return {};
  return {groups.begin(), groups.end()};
}

/// An SM and other SMs of its GPC, which have the same distance to each slice.
std::vector<int> choose_probers(const std::vector<double>& gpc_of_sm, int sm) {
  constexpr std::size_t most = 4;
  const auto groups = group_others(gpc_of_sm, sm);
  std::vector<int> probers = groups.empty() ? std::vector<int>{} : spread(groups.front(), most - 1);
  probers.push_back(sm);
  return probers;
}

/// Latencies of atomics to lines of a buffer, with and without simultaneous reductions on one line.
class PageChase {
 public:
  /// Uses the draw's SM and other SMs of its GPC, if it is known, at the draw's place in memory.
  PageChase(JobRun& run, const Draw& draw, std::uint64_t buffer_bytes, std::uint64_t line_bytes)
      : run_(run),
        setup_(at_draw(set_up_chase(run, LoadPath::atomic, RecordSpace::longest), draw)),
        line_bytes_(line_bytes),
        probers_(choose_probers(known_groups(run).gpc_of_sm, draw.sm)),
        random_(draw.seed) {
    setup_.buffer_bytes = buffer_bytes;
  }

  void set_co_runner_sms(std::vector<int> sms) { sms_ = std::move(sms); }

  /// The fastest of some passes for each line in `offsets`, in their order.
  std::vector<double> latencies_alone(const Lines& offsets) {
    setup_.co_runners.clear();
    return fastest(offsets, passes_alone);
  }

  /// The same while the co-runners make reductions on the line at `own_bytes`.
  std::vector<double> contended_latencies(const Lines& offsets, std::uint64_t own_bytes,
                                          std::uint64_t passes = 2) {
    setup_.co_runners.clear();
    for (const int sm : sms_) setup_.co_runners.push_back({sm, own_bytes});
    return fastest(offsets, passes);
  }

 private:
  /// The fastest latency of each line over the passes of a chase in random order. A line is always
  /// accessed by the same SM, so that its latencies can be compared. Shorter lists are filled up by
  /// repetition.
  std::vector<double> fastest(const Lines& offsets, std::uint64_t passes) {
    using Part = std::vector<std::size_t>;
    std::vector<Part> parts(probers_.size());
    for (std::size_t i = 0; i < offsets.size(); ++i) {
      parts[offsets[i] / line_bytes_ % parts.size()].push_back(i);
    }
    std::erase_if(parts, [](const Part& part) { return part.empty(); });
    const std::size_t length = std::ranges::max_element(parts, {}, &Part::size)->size();
    LaneChases chases{.warmup_accesses = length,
                      .recorded_accesses = passes * length,
                      .most_at_once = recordable_with_list(setup_, length),
                      .warm_up = WarmUp::overlapped,
                      .evidence = Evidence::of_a_search};
    for (Part& part : parts) {
      shuffle(part, random_);
      for (std::size_t i = 0; part.size() < length; ++i) part.push_back(part[i]);
      ChaseLane lane{.sm = probers_[chases.lanes.size()], .offsets_bytes = {}, .path = setup_.path};
      for (const std::size_t i : part) lane.offsets_bytes.push_back(offsets[i]);
      chases.lanes.push_back(std::move(lane));
    }
    const std::string label =
        setup_.co_runners.empty()
            ? fmt::format("slices: page {} alone", setup_.place)
            : fmt::format("slices: page {}, reductions on {:#x}", setup_.place,
                          setup_.co_runners.front().offset_bytes);
    std::vector<double> latencies(offsets.size(), std::numeric_limits<double>::infinity());
    const auto cycles = record_lanes(run_, setup_, label, std::move(chases));
    for (std::size_t part = 0; part < parts.size(); ++part) {
      for (std::size_t at = 0; at < cycles[part].size(); ++at) {
        double& least = latencies[parts[part][at % length]];
        least = std::min(least, cycles[part][at]);
      }
    }
    return latencies;
  }

  JobRun& run_;
  ChaseSetup setup_;
  std::uint64_t line_bytes_;
  std::vector<int> probers_;
  Random random_;
  std::vector<int> sms_;  // the co-runners
};

/// All lines of the large page that begins at `page_bytes`.
Lines lines_of_page(std::uint64_t page_bytes, std::uint64_t line_bytes) {
  Lines lines;
  for (std::uint64_t at = 0; at < large_page_bytes; at += line_bytes) {
    lines.push_back(page_bytes + at);
  }
  return lines;
}

/// What the first page shows of the lines that wait, and of lines near the prober.
struct SliceOfLine {
  std::uint64_t own_bytes = 0;   // line of the reductions
  double slowest_alone = 0;      // bound for nearly all lines
  double wait_cycles = 0;        // only lines of the slice wait longer
  double near_below_cycles = 0;  // faster lines have their home in the near partition
  bool is_clear = false;
};

/// A bound between the least wait of waiting lines and the longest wait of other lines.
double wait_between(const WaitingLines& waiting, const std::vector<double>& alone,
                    const std::vector<double>& contended) {
  std::vector<double> waits;
  std::vector<double> others;
  for (std::size_t i = 0; i < alone.size(); ++i) {
    (waiting.waits[i] ? waits : others).push_back(contended[i] - alone[i]);
  }
  // Single lines on the wrong side are outliers.
  constexpr double outliers = 0.01;
  return (quantile(waits, outliers) + quantile(others, 1 - outliers)) / 2;
}

SliceOfLine look_at_first_page(JobRun& run, PageChase& chase, std::uint64_t line_bytes) {
  constexpr double nearly_all = 0.999;
  const Lines lines = lines_of_page(0, line_bytes);
  const std::vector<double> alone = chase.latencies_alone(lines);
  // The fastest line has its home in the near partition; only lines of one slice wait with it.
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

/// The lines of a page that are as slow, while co-runners are active, as only waiting lines are.
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

std::vector<int> choose_co_runners(const std::vector<double>& gpc_of_sm, int sm_count, int prober,
                                   int of_each_gpc) {
  const auto wanted = static_cast<std::size_t>(of_each_gpc);
  const auto groups = group_others(gpc_of_sm, prober);
  std::vector<int> chosen;
  if (groups.empty()) {
    for (int sm = 0; sm < sm_count; ++sm) {
      if (sm != prober) chosen.push_back(sm);
    }
    return spread(chosen, wanted * (usual_gpcs - 1));
  }
  for (const std::vector<int>& sms : groups | std::views::drop(1)) {
    for (const int sm : spread(sms, wanted)) chosen.push_back(sm);
  }
  return chosen;
}

PageSlices label_page(JobRun& run, const Draw& draw, std::uint64_t line_bytes) {
  PageChase chase(run, draw, large_page_bytes, line_bytes);
  const std::vector<double> alone = chase.latencies_alone(lines_of_page(0, line_bytes));
  PageSlices page{.slices = {}, .prober = draw.sm};
  for (const int of_each_gpc : co_runners_of_gpc) {
    std::vector<int> sms =
        choose_co_runners(known_groups(run).gpc_of_sm, run.info().sm_count, draw.sm, of_each_gpc);
    if (sms.size() == page.co_runners) break;
    page.co_runners = sms.size();
    page.of_each_gpc = of_each_gpc;
    chase.set_co_runner_sms(std::move(sms));
    page.slices = label_lines(alone, [&](const auto& lines, std::size_t own) {
      Lines offsets;
      for (const std::size_t line : lines) offsets.push_back(line * line_bytes);
      return chase.contended_latencies(offsets, own * line_bytes);
    });
    if (page.slices.slices > 0) break;
  }
  return page;
}

SliceLines collect_slice_lines(JobRun& run, const Draw& draw, std::uint64_t line_bytes,
                               const std::vector<int>& co_runners, std::uint64_t pages) {
  SliceLines found{
      .offsets = {}, .pages = pages, .buffer_bytes = (pages + 1) * large_page_bytes, .reason = {}};
  PageChase chase(run, draw, found.buffer_bytes, line_bytes);
  chase.set_co_runner_sms(co_runners);
  const SliceOfLine slice = look_at_first_page(run, chase, line_bytes);
  if (!slice.is_clear) {
    found.reason =
        "reductions on a line delayed other lines in three pages, but not in a further page";
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
