// The bypass job: N warps of a block walk memory while only L of them use the L1. Measures the best
// L, and what the model of Dai et al. (DAC 2016) makes of the same numbers
// (docs/methods/bypass.md).
#include "analysis/bypass_model.hpp"
#include "base/units.hpp"
#include "jobs/jobs.hpp"
#include "jobs/windows.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

namespace sonde {
namespace {

constexpr int most_warps = 8;         // as many as the paper's generator tells apart
constexpr int measured_sms = 4;       // the effect lies inside an SM; few keep the L2 out of it
constexpr std::uint64_t passes = 12;  // over each working set, timed
/// Cycles count as equal below this fraction: repeats of one L differ by about as much.
constexpr double equal_fraction = 0.01;
/// Congestion is there if an access waits this part of what a hit saves.
constexpr double least_wait = 0.02;

/// A pattern of accesses, by the L1 that it is aimed at.
struct Pattern {
  std::string name;
  std::uint64_t working_set_bytes = 0;
  std::uint64_t warp_base_step_bytes = 0;
  std::uint64_t access_step_bytes = 0;
  std::uint64_t thread_stride_bytes = 0;
};

/// Each access of a warp touches many lines, as uncoalesced loads do: that is what fills the
/// resources for misses. "thrash": each warp walks 0.3 of the L1, so that three of eight fit and
/// all together are 2.4 times its size. "fit": all warps walk the same half of the L1.
std::vector<Pattern> make_patterns(std::uint64_t l1_bytes) {
  // In a small L1 (16 to 48 KiB) 32 lines for an access would leave no room for a second one.
  const std::uint64_t thread_stride_bytes = l1_bytes >= 96_KiB ? 128 : 32;
  const std::uint64_t access_bytes = 32 * thread_stride_bytes;
  const auto whole_accesses = [access_bytes](double bytes) {
    return std::max<std::uint64_t>(2, static_cast<std::uint64_t>(bytes) / access_bytes) *
           access_bytes;
  };
  const std::uint64_t own_bytes = whole_accesses(0.3 * static_cast<double>(l1_bytes));
  const std::uint64_t common_bytes = whole_accesses(0.5 * static_cast<double>(l1_bytes));
  return {{"thrash", own_bytes, own_bytes, access_bytes, thread_stride_bytes},
          {"fit", common_bytes, 0, access_bytes, thread_stride_bytes}};
}

BypassProbe make_probe(const JobRun& run, const Pattern& pattern, int warps, int cached_warps) {
  const std::uint64_t pass_accesses = pattern.working_set_bytes / pattern.access_step_bytes;
  BypassProbe probe;
  probe.warps = warps;
  probe.cached_warps = cached_warps;
  probe.working_set_bytes = pattern.working_set_bytes;
  probe.warp_base_step_bytes = pattern.warp_base_step_bytes;
  probe.access_step_bytes = pattern.access_step_bytes;
  probe.thread_stride_bytes = pattern.thread_stride_bytes;
  probe.warmup_accesses = 2 * pass_accesses;
  probe.accesses = passes * pass_accesses;
  probe.sms = spread_sms(run.info().sm_count, measured_sms);
  return probe;
}

/// One warp alone, once through the L1 and once past it.
Unloaded measure_unloaded(JobRun& run, const Pattern& pattern) {
  const auto windows_of = [](const Trace& trace) {
    std::vector<std::uint32_t> windows;
    for (const LaneTrace& lane : trace.lanes) {
      windows.insert(windows.end(), lane.window_cycles.begin(), lane.window_cycles.end());
    }
    return windows;
  };
  const auto label = [&](const char* way) {
    return fmt::format("{}: one warp {} the L1", pattern.name, way);
  };
  return {describe_unloaded(windows_of(run.run(label("through"), make_probe(run, pattern, 1, 1)))),
          describe_unloaded(windows_of(run.run(label("past"), make_probe(run, pattern, 1, 0))))};
}

void report_unresolved(JobRun& run, const std::string& pattern, const std::string& reason) {
  for (const char* name : {"cycles", "hits", "congestion", "best_l", "speedup", "exponent",
                           "exponent_r2", "model_l", "model_e", "model_speedup"}) {
    run.report(not_resolvable(fmt::format("bypass.{}.{}", pattern, name), reason));
  }
}

void report_measured(JobRun& run, const Pattern& pattern, const std::vector<BypassPoint>& points,
                     std::uint64_t accesses) {
  const auto metric = [&](const char* name) {
    return fmt::format("bypass.{}.{}", pattern.name, name);
  };
  std::vector<double> cycles, hits, congestion;
  for (const BypassPoint& point : points) {
    cycles.push_back(point.cycles);
    hits.push_back(point.hits);
    congestion.push_back(point.congestion);
  }
  const int best_l = find_best_l(points, equal_fraction);
  const double speedup = cycles.back() / cycles[static_cast<std::size_t>(best_l)];
  run.report(found(metric("cycles"), std::move(cycles), 1, accesses));
  run.report(found(metric("hits"), std::move(hits), 1, accesses));
  run.report(found(metric("congestion"), std::move(congestion), 1, accesses));
  run.report(found(metric("best_l"), static_cast<double>(best_l), 1, accesses));
  run.report(found(metric("speedup"), speedup, 1, accesses));
}

void report_model(JobRun& run, const Pattern& pattern, const std::vector<BypassPoint>& points,
                  const Unloaded& unloaded, std::uint64_t accesses_of_all_warps) {
  const auto metric = [&](const char* name) {
    return fmt::format("bypass.{}.{}", pattern.name, name);
  };
  const double least_congestion =
      least_wait * unloaded.hit_gain_cycles() * static_cast<double>(accesses_of_all_warps);
  const auto law = fit_congestion(points, least_congestion);
  const std::size_t samples = points.size();
  if (law) {
    const double confidence = std::clamp(law->r2, 0.0, 1.0);
    run.report(found(metric("exponent"), law->exponent, confidence, samples));
    run.report(found(metric("exponent_r2"), law->r2, 1, samples));
  } else {
    const std::string reason = fmt::format(
        "all warps together wait {:.0f} cycles on the way through the L1: no congestion to fit",
        points.back().congestion);
    run.report(not_resolvable(metric("exponent"), reason));
    run.report(not_resolvable(metric("exponent_r2"), reason));
  }
  const BypassModel model = fit_bypass_model(points, law, unloaded.hit_gain_cycles());
  const double speedup =
      points.back().cycles / points[static_cast<std::size_t>(model.best_l)].cycles;
  run.report(found(metric("model_l"), static_cast<double>(model.best_l), 1, samples));
  run.report(law ? found(metric("model_e"), model.e, 1, samples)
                 : not_resolvable(metric("model_e"), "no congestion to weigh"));
  run.report(found(metric("model_speedup"), speedup, 1, samples));
}

void run_pattern(JobRun& run, const Pattern& pattern) {
  const int warps = std::min(most_warps, run.info().max_threads_per_block / 32);
  const Unloaded unloaded = measure_unloaded(run, pattern);
  if (unloaded.miss.typical_cycles <= unloaded.hit.longest_cycles) {
    report_unresolved(run, pattern.name, "one warp alone is no faster through the L1 than past it");
    return;
  }
  std::vector<BypassPoint> points;
  std::uint64_t accesses = 0;
  for (int cached = 0; cached <= warps; ++cached) {
    const BypassProbe probe = make_probe(run, pattern, warps, cached);
    const Trace& trace =
        run.run(fmt::format("{}: {} of {} warps use the L1", pattern.name, cached, warps), probe);
    points.push_back(summarize_bypass(trace.lanes, cached, unloaded));
    accesses = probe.accesses * static_cast<std::uint64_t>(warps);
  }
  report_measured(run, pattern, points, accesses * measured_sms);
  report_model(run, pattern, points, unloaded, accesses);
}

}  // namespace

void run_bypass(JobRun& run) {
  const auto l1_bytes = run.number("cache.l1.size_bytes");
  if (!l1_bytes) {
    for (const char* pattern : {"thrash", "fit"}) {
      report_unresolved(run, pattern,
                        "cache.l1.size_bytes is not known: no pattern can be aimed at the L1");
    }
    return;
  }
  for (const Pattern& pattern : make_patterns(static_cast<std::uint64_t>(*l1_bytes))) {
    run_pattern(run, pattern);
  }
}

}  // namespace sonde
