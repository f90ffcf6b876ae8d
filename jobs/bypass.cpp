// Job `bypass`: N warps of a block chase memory while only L of them use the L1. Measures the best
// L, and what the model of Dai et al. (DAC 2016) makes of the same numbers.
// Method: docs/methods/bypass.md.
#include "analysis/bypass_model.hpp"
#include "base/gpu_facts.hpp"
#include "jobs/jobs.hpp"
#include "jobs/run/clock_window.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

namespace sonde {
namespace {

constexpr int most_warps = 8;        // as many as the paper's generator distinguishes
constexpr int measured_sms = 4;      // the effect lies inside an SM; few keep the L2 out of it
constexpr std::uint64_t passes = 8;  // over each working set, timed
/// Rates count as equal within this fraction: repeats of one L differ by about as much.
constexpr double equal_fraction = 0.01;
/// Congestion is there if an access waits this part of what a hit saves.
constexpr double least_wait = 0.02;

/// A pattern of accesses, by the L1 that it is aimed at.
struct Pattern {
  std::string name;
  std::uint64_t working_set_bytes = 0;  // of each warp
  std::uint64_t access_bytes = 0;       // that the threads of a warp span
};

/// "thrash": uncoalesced loads, eight lines for each access, fill the resources for misses; each
/// warp chases 0.3 of the L1, so that three of eight fit and all together are 2.4 times its size.
/// "fit": coalesced loads; all warps together chase half of the L1. No line is shared by warps: a
/// load that bypasses the L1 would throw it out there.
std::vector<Pattern> make_patterns(std::uint64_t l1_bytes) {
  const auto part_of_l1 = [l1_bytes](double part, std::uint64_t step_bytes) {
    const double steps = part * static_cast<double>(l1_bytes) / static_cast<double>(step_bytes);
    return std::max<std::uint64_t>(2, static_cast<std::uint64_t>(steps)) * step_bytes;
  };
  const std::uint64_t scattered_bytes = warp_threads * smallest_line_bytes;  // a sector per thread
  const std::uint64_t coalesced_bytes = warp_threads * 4;
  const std::uint64_t thrash_bytes = part_of_l1(0.3, scattered_bytes);
  const std::uint64_t fit_bytes = part_of_l1(0.5 / most_warps, coalesced_bytes);
  return {{"thrash", thrash_bytes, scattered_bytes}, {"fit", fit_bytes, coalesced_bytes}};
}

BypassProbe make_probe(const JobRun& run, const Pattern& pattern, int warps, int cached_warps) {
  const std::uint64_t pass_accesses = pattern.working_set_bytes / pattern.access_bytes;
  BypassProbe probe;
  probe.warps = warps;
  probe.cached_warps = cached_warps;
  probe.working_set_bytes = pattern.working_set_bytes;
  probe.warp_base_step_bytes = pattern.working_set_bytes;
  probe.access_step_bytes = pattern.access_bytes;
  probe.thread_stride_bytes = pattern.access_bytes / warp_threads;
  probe.warmup_accesses = 2 * pass_accesses;
  probe.accesses = passes * pass_accesses;
  probe.sms = spread_sms(run.info().sm_count, measured_sms);
  return probe;
}

/// One warp alone, once through the L1 and once past it, in this order.
Unloaded measure_unloaded(JobRun& run, const Pattern& pattern) {
  const auto measure = [&](const char* way, int cached_warps) {
    const std::string label = fmt::format("{}: one warp {} the L1", pattern.name, way);
    return describe_unloaded(
        all_windows(run.run(label, make_probe(run, pattern, 1, cached_warps))));
  };
  return {measure("through", 1), measure("past", 0)};
}

/// How the metrics of a pattern begin.
std::string prefix_of(const Pattern& pattern) { return "bypass." + pattern.name + "."; }

void report_measured(JobRun& run, const Pattern& pattern, const std::vector<BypassPoint>& points,
                     std::uint64_t accesses) {
  const auto report = [&, prefix = prefix_of(pattern)](const char* name, Value value) {
    run.report(found(prefix + name, std::move(value), 1, accesses));
  };
  const auto series = [&points](double BypassPoint::*number) {
    std::vector<double> numbers;
    for (const BypassPoint& point : points) numbers.push_back(point.*number);
    return numbers;
  };
  const int best_l = find_best_l(points, equal_fraction);
  const double speedup = points[static_cast<std::size_t>(best_l)].accesses_per_cycle /
                         points.back().accesses_per_cycle;
  report("cycles", series(&BypassPoint::cycles));
  report("accesses_per_cycle", series(&BypassPoint::accesses_per_cycle));
  report("hits", series(&BypassPoint::hits));
  report("congestion", series(&BypassPoint::congestion));
  report("best_l", static_cast<double>(best_l));
  report("speedup", speedup);
}

void report_model(JobRun& run, const Pattern& pattern, const std::vector<BypassPoint>& points,
                  const Unloaded& unloaded, std::uint64_t accesses_of_all_warps) {
  const std::string prefix = prefix_of(pattern);
  const double least_congestion =
      least_wait * unloaded.hit_gain_cycles() * static_cast<double>(accesses_of_all_warps);
  const auto law = fit_congestion(points, least_congestion);
  const std::size_t samples = points.size();
  if (law) {
    const double confidence = std::clamp(law->r2, 0.0, 1.0);
    run.report(found(prefix + "exponent", law->exponent, confidence, samples));
    run.report(found(prefix + "exponent_r2", law->r2, 1, samples));
  } else {
    const std::string reason = fmt::format(
        "all warps together wait {:.0f} cycles on the way through the L1: no congestion to fit",
        points.back().congestion);
    run.report_rest(prefix + "exponent", Status::not_resolvable, reason);
  }
  const BypassModel model = fit_bypass_model(points, law, unloaded.hit_gain_cycles());
  const double speedup = points[static_cast<std::size_t>(model.best_l)].accesses_per_cycle /
                         points.back().accesses_per_cycle;
  run.report(found(prefix + "model_l", static_cast<double>(model.best_l), 1, samples));
  run.report(law ? found(prefix + "model_e", model.e, 1, samples)
                 : not_resolvable(prefix + "model_e", "no congestion to weigh"));
  run.report(found(prefix + "model_speedup", speedup, 1, samples));
}

void run_pattern(JobRun& run, const Pattern& pattern) {
  const int warps =
      std::min(most_warps, run.info().max_threads_per_block / static_cast<int>(warp_threads));
  const Unloaded unloaded = measure_unloaded(run, pattern);
  if (unloaded.miss.typical_cycles <= unloaded.hit.longest_cycles) {
    return run.report_rest(prefix_of(pattern), Status::not_resolvable,
                           "one warp alone is no faster through the L1 than past it");
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
    return run.report_rest("", Status::not_resolvable,
                           "cache.l1.size_bytes is not known: no pattern can be aimed at the L1");
  }
  for (const Pattern& pattern : make_patterns(static_cast<std::uint64_t>(*l1_bytes))) {
    run_pattern(run, pattern);
  }
}

}  // namespace sonde
